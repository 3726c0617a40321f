import { describe, expect, it } from "@jest/globals";
import { shardOf } from "../shared/ids.ts";
import { aFlow, aQueue, newId } from "@posthaste/testing";
import { dueAtOf, type Gate, isForeign, stateAtNextGate, shardOfMessage } from "./gates.ts";
import { type Lanes } from "./lane.ts";

const now = 1_000_000;
const id = newId();

describe("the next gate", () => {
  it.each<[string, Lanes, Gate, number, ReturnType<typeof stateAtNextGate>]>([
    ["is nothing without a time and a flow key", {}, "none", now, { kind: "due", hints: 0 }],
    ["is a time ahead", {}, "none", now + 1, { kind: "held", dueAt: now + 1 }],
    [
      "is the time first, then the flow key",
      { flow: aFlow },
      "none",
      now + 1,
      { kind: "held", dueAt: now + 1 },
    ],
    [
      "is the flow key when no time is ahead",
      { flow: aFlow },
      "none",
      now,
      { kind: "waiting", flow: aFlow },
    ],
    [
      "is the flow key once the time has passed",
      { flow: aFlow },
      "time",
      now,
      { kind: "waiting", flow: aFlow },
    ],
    ["is nothing once the time has passed", {}, "time", now, { kind: "due", hints: 0 }],
  ])("%s", (_, lanes, passed, dueAt, expected) => {
    expect(stateAtNextGate(lanes, passed, dueAt, now)).toEqual(expected);
  });
});

describe("a record's shard", () => {
  it("is its queue's, else its flow key's, else its own", () => {
    expect(shardOfMessage({ id })).toBe(shardOf(id));
    expect(shardOfMessage({ id, flow: aFlow })).toBe(shardOf(aFlow));
    expect(shardOfMessage({ id, flow: aFlow, queue: aQueue })).toBe(shardOf(aQueue));
  });

  it("shows whether the lane's row is in the same shard", () => {
    expect(isForeign({ shard: shardOfMessage({ id, flow: aFlow }) }, aFlow)).toBe(false);
    expect(isForeign({ shard: (shardOf(aFlow) + 1) % 64 }, aFlow)).toBe(true);
  });
});

describe("the time of a message", () => {
  it.each([
    ["without a delay", 1_000, 1_000, 1_500, 1_000],
    ["without a delay, made by a clock that was ahead", 9_000, 9_000, 1_500, 1_500],
    ["with a delay", 1_000, 3_000, 1_500, 3_000],
    ["with a delay, made by a clock that was ahead: as it was told", 9_000, 11_000, 1_500, 11_000],
  ])("%s", (_, createdAt, notBefore, now, dueAt) => {
    expect(dueAtOf({ createdAt, notBefore }, now)).toBe(dueAt);
  });
});
