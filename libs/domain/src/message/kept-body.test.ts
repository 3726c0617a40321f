import { describe, expect, it } from "@jest/globals";
import { type LogEvent, type LogState } from "./log.ts";
import { bodyKeptUntil, keptMsMaxNext, keptMsOf, mayKeepBody } from "./kept-body.ts";
import { type Configuration } from "./message.ts";

const plain = { policy: {} } as Configuration;
const withRedaction = (redaction: { body: boolean; headers: string[] }) =>
  ({ policy: { redaction } }) as unknown as Configuration;
const ended = (state: LogState): LogEvent => ({ at: 100, attempt: 0, state });
const hourMs = 3_600_000;
const minuteMs = 60_000;

describe("the body of an ended message", () => {
  it.each([
    ["DELIVERED", plain, 150],
    ["CANCELED", plain, 150],
    ["ACTIVE", plain, undefined],
    ["FAILED", plain, undefined],
    ["DELIVERED", withRedaction({ body: true, headers: [] }), undefined],
    ["DELIVERED", withRedaction({ body: false, headers: ["x-card"] }), 150],
    ["DELIVERED", { ...plain, run: {} } as Configuration, undefined],
  ] as const)("is kept from %s on, unless it is redacted or of a run", (state, message, until) => {
    expect(bodyKeptUntil(message, [ended("CREATED"), ended(state)], 50)).toBe(until);
    if (until !== undefined) expect(mayKeepBody(message)).toBe(true);
  });

  it("is kept no longer than the log", () => {
    expect(keptMsOf({ keepBodiesMs: 10, logMs: 5 })).toBe(5);
    expect(keptMsOf({ keepBodiesMs: 0, logMs: 5 })).toBe(0);
  });
});

it.each([
  ["room, and no bound", undefined, false, undefined],
  ["full, and no bound: half of what the plans keep", undefined, true, 12 * hourMs],
  ["still full: half of that", 12 * hourMs, true, 6 * hourMs],
  ["full, with a bound beyond the plans", 96 * hourMs, true, 12 * hourMs],
  ["full, with little more than a minute left: nothing", minuteMs + 1, true, 0],
  ["still full with nothing kept", 0, true, 0],
  ["room again: a minute", 0, false, minuteMs],
  ["room: twice as long", hourMs, false, 2 * hourMs],
  ["room, and a bound beyond the plans: none", 24 * hourMs, false, undefined],
] as const)("the time that bodies are kept, with %s", (_, before, isFull, next) => {
  expect(keptMsMaxNext(before, { isFull, longestMs: 24 * hourMs })).toBe(next);
});
