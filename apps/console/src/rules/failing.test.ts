import { expect, it } from "@jest/globals";
import { type LogEntry } from "@posthaste/client/api";
import { failingOf, latencyOf } from "./failing.ts";

const event = (messageId: string, state: LogEntry["state"], time: number, url = "a"): LogEntry => ({
  ...{ messageId, state, time, url: `https://${url}.example/x?id=${messageId}`, method: "POST" },
  ...{ timeout: 1, maxRetries: 3, header: {}, callerIP: "192.0.2.1" },
});

it("destinations that fail are listed by how often, with the last answer and since when", () => {
  const events = [
    event("3", "ERROR", 30, "b"),
    event("2", "ERROR", 20, "a"),
    event("1", "ERROR", 10, "a"),
  ];

  expect(failingOf(events)).toMatchObject([
    { place: "https://a.example/x", count: 2, since: 10, last: { time: 20 }, isOneUrl: false },
    { place: "https://b.example/x", count: 1, since: 30, last: { time: 30 }, isOneUrl: true },
  ]);
});

it("latency covers messages whose acceptance and delivery are both known", () => {
  const events = [
    event("c", "DELIVERED", 100),
    event("b", "DELIVERED", 90),
    event("b", "CREATED", 50),
    event("a", "DELIVERED", 40),
    event("a", "CREATED", 30),
    event("d", "CREATED", 20),
  ];

  expect(latencyOf(events)).toEqual({ count: 2, median: 10, p99: 10 });
  expect(latencyOf([event("c", "DELIVERED", 1)])).toBeUndefined();
});
