import { describe, expect, it } from "@jest/globals";
import { newId } from "@posthaste/testing";
import { messageId, shardCount, shardOf } from "./ids.ts";

describe("a shard", () => {
  it("is one of 64, the same each time, and each gets its share", () => {
    const counts = new Map<number, number>();
    for (let i = 0; i < 6_400; i++) {
      const shard = shardOf(newId());
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }

    expect([...counts.keys()].every((shard) => shard >= 0 && shard < shardCount)).toBe(true);
    expect(counts.size).toBe(shardCount);
    expect(Math.max(...counts.values())).toBeLessThan(200);
    expect(shardOf(messageId("msg_fixed"))).toBe(shardOf(messageId("msg_fixed")));
  });
});
