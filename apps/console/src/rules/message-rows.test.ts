import { expect, it } from "@jest/globals";
import { type LogEntry } from "@posthaste/client/api";
import { idsIn, rowsOf } from "./message-rows.ts";

const event = (messageId: string, state: LogEntry["state"], time: number): LogEntry => ({
  ...{ messageId, state, time, url: "https://a.example", method: "POST" },
  ...{ timeout: 1, maxRetries: 3, header: {}, callerIP: "192.0.2.1" },
});

const events = [
  event("b", "FAILED", 9),
  event("b", "ERROR", 9),
  event("a", "RETRY", 7),
  event("a", "ERROR", 7),
  event("b", "ACTIVE", 6),
  event("a", "ACTIVE", 5),
  event("a", "CREATED", 4),
];

it("events become one row for each message, in the order of their newest events", () => {
  const rows = rowsOf(idsIn(events), events);

  expect(rows.map(({ id, message }) => [id, message.state])).toEqual([
    ["b", "FAILED"],
    ["a", "RETRY"],
  ]);
  expect(rows.map(({ story }) => story.attempts.length)).toEqual([1, 1]);
  expect(rows[1]?.story.createdAt).toBe(4);
});

it("a message whose first events are not there has no time of acceptance", () => {
  expect(rowsOf(["b"], events)[0]?.story).toMatchObject({ createdAt: undefined, endedAt: 9 });
});

it("no row is made of a message without events", () => {
  expect(rowsOf(["c"], events)).toEqual([]);
});
