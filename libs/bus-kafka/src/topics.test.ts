import { describe, expect, it, jest } from "@jest/globals";
import { shardCount } from "@posthaste/domain";
import fc from "fast-check";
import { aHint } from "./events.fixture.ts";
import { placingOf, shardsOn, topicPlans } from "./topics.ts";

// A property is tried a hundred times, even on a busy host.
jest.setTimeout(60_000);

describe("shards and partitions", () => {
  it("however many partitions there are, each shard has one, and its wakes go there", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (partitionCount) => {
        const { placeOf } = placingOf("scheduler.wake");
        const owned = Array.from({ length: partitionCount }, (_, partition) =>
          shardsOn([partition], partitionCount),
        );

        expect(owned.flat().toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: shardCount }, (_, shard) => shard),
        );
        const places = owned.map((shards) =>
          shards.map((shard) => placeOf({ shard, at: 0, source: "any" }) % partitionCount),
        );
        expect(places).toEqual(owned.map((shards, partition) => shards.map(() => partition)));
      }),
    );
  });

  it("a member that is assigned every partition owns every shard", () => {
    expect(shardsOn([0, 1, 2, 3], 4)).toHaveLength(shardCount);
  });
});

it("all events of one message go to one partition, under its id", () => {
  const { keyOf, placeOf } = placingOf("message.due");
  const hint = aHint();

  expect(keyOf(hint)).toBe(hint.id);
  expect(placeOf({ ...hint, epoch: 9 })).toBe(placeOf(hint));
});

describe("the topics that are made", () => {
  it("are named after the prefix, and wakes have no more partitions than there are shards", () => {
    const plans = topicPlans("p.", 100, 86_400_000);

    expect(plans.map(({ name, partitions }) => [name, partitions])).toEqual([
      ["p.message.accepted", 100],
      ["p.message.due", 100],
      ["p.message.settled", 100],
      ["p.scheduler.wake", 64],
      ["p.parked", 1],
    ]);
  });

  it("keep facts for the configured time, and hints for an hour at most", () => {
    const retention = (retentionMs: number, name: string): number | undefined =>
      topicPlans("", 1, retentionMs).find((plan) => plan.name === name)?.retentionMs;

    expect(retention(86_400_000, "message.settled")).toBe(86_400_000);
    expect(retention(86_400_000, "parked")).toBe(86_400_000);
    expect(retention(86_400_000, "scheduler.wake")).toBe(3_600_000);
    expect(retention(60_000, "scheduler.wake")).toBe(60_000);
  });

  it("keep hints that carry bodies for minutes, and no more than a quarter of a gibibyte of a partition", () => {
    const due = (retentionMs: number) =>
      topicPlans("", 1, retentionMs).find(({ name }) => name === "message.due");

    expect(due(86_400_000)).toMatchObject({
      retentionMs: 300_000,
      retentionBytes: 256 * 1024 * 1024,
    });
    expect(due(60_000)?.retentionMs).toBe(60_000);
  });
});
