import { describe, expect, it } from "@jest/globals";
import { shardOf } from "../shared/shards.ts";
import { aFlow, aQueue, newId } from "@posthaste/testing";
import { type Gate, isForeign, onward, shardOfMessage } from "./gates.ts";
import { type Lanes } from "./lane.ts";

const now = 1_000_000;
const id = newId();

describe("the next gate", () => {
  it.each<[string, Lanes, Gate, number, ReturnType<typeof onward>]>([
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
    expect(onward(lanes, passed, dueAt, now)).toEqual(expected);
  });
});

describe("a record's shard", () => {
  it("is its queue's, else its flow key's, else its own", () => {
    expect(shardOfMessage({ id })).toBe(shardOf(id));
    expect(shardOfMessage({ id, flow: aFlow })).toBe(shardOf(aFlow));
    expect(shardOfMessage({ id, flow: aFlow, queue: aQueue })).toBe(shardOf(aQueue));
  });

  it("tells whether the lane's row stands with it", () => {
    expect(isForeign({ shard: shardOfMessage({ id, flow: aFlow }) }, aFlow)).toBe(false);
    expect(isForeign({ shard: (shardOf(aFlow) + 1) % 64 }, aFlow)).toBe(true);
  });
});
