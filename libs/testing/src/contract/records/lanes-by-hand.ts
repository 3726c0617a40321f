import { expect } from "@jest/globals";
import {
  allShards,
  type FlowLane,
  flowByHand,
  flowLaneId,
  limits,
  shardOf,
} from "@posthaste/domain";
import { anotherTenant, aTenant } from "../../builders/message.ts";
import {
  insert,
  oneAtATime,
  type RecordsHarness,
  ringAll,
  type StoreGuarantee,
  tightLane,
} from "./harness.ts";

const tight = flowByHand(aTenant, oneAtATime.key);

export function lanesByHand(it: StoreGuarantee): void {
  it("a pause of an unused key makes its lane, without limits", async (harness) => {
    await harness.flowLanes.pause(tight);

    expect(await laneOf(harness)).toMatchObject({
      id: tightLane,
      tenant: aTenant,
      key: oneAtATime.key,
      shard: shardOf(tightLane),
      limits: tight.limits,
      paused: true,
    });
    expect((await laneOf(harness)).wakeAt).toBeUndefined();
  });

  it("a pause outlives publishes, which set the limits", async (harness) => {
    const before = await insert(harness, { flow: { key: oneAtATime.key, limits: tight.limits } });
    await harness.flowLanes.pause(tight);
    await insert(harness, { flow: oneAtATime });

    const lane = await laneOf(harness);

    expect(lane).toMatchObject({ paused: true, limits: oneAtATime.limits });
    expect((await harness.flowLanes.heads(tightLane, 1))[0]?.id).toBe(before.id);
  });

  it("a kept window is stored in the row, whose alarm stays", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const before = await laneOf(harness);
    const window = { startedAt: harness.now(), count: 0 };

    await harness.flowLanes.keepWindow(tightLane, window);
    await harness.flowLanes.keepWindow(flowLaneId(aTenant, "unused"), window);

    expect(await laneOf(harness)).toEqual({ ...before, window });
  });

  it("a resume sets the alarm to now, and keeps the other fields of the row", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    await harness.flowLanes.pause(tight);
    const { seq } = await laneOf(harness);
    await harness.flowLanes.rest(tightLane, seq, undefined, { startedAt: 1, count: 2 });

    await harness.flowLanes.resume(tight);

    const lane = await laneOf(harness);
    expect(lane).toMatchObject({ paused: false, limits: oneAtATime.limits });
    expect(lane.window).toEqual({ startedAt: 1, count: 2 });
    expect(lane.wakeAt).toBeLessThanOrEqual(harness.now());
    expect((await ringAll(harness)).lanes).toEqual([tightLane]);
  });

  it("a granter that read the pause does not put a resumed lane to rest", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    await harness.flowLanes.pause(tight);
    const seen = await laneOf(harness);

    await harness.flowLanes.resume(tight);
    const rests = await harness.flowLanes.rest(tightLane, seen.seq, undefined, seen.window);

    expect(rests).toBe(false);
    expect((await laneOf(harness)).wakeAt).toBeLessThanOrEqual(harness.now());
  });

  it("the keys of a tenant are listed in order, as many as requested", async (harness) => {
    for (const key of ["b", "a*c", "abc", "Z"])
      await harness.flowLanes.pause(flowByHand(aTenant, key));
    await harness.flowLanes.pause(flowByHand(anotherTenant, "b"));
    const keys = async (search: string, limit = 10) =>
      (await harness.flowLanes.list(aTenant, search, limit)).map(({ key }) => key);

    expect(await keys("")).toEqual(["Z", "a*c", "abc", "b"]);
    expect(await keys("", 2)).toEqual(["Z", "a*c"]);
    expect(await keys("a*")).toEqual(["a*c"]);
    expect(await keys("b")).toEqual(["abc", "b"]);
    expect(await keys("B")).toEqual([]);
    expect((await harness.flowLanes.list(anotherTenant, "", 10)).map(({ key }) => key)).toEqual([
      "b",
    ]);
  });

  it("pinned limits apply whatever is published, and can be read", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const { seq } = await laneOf(harness);
    await harness.flowLanes.rest(tightLane, seq, undefined, undefined);

    await harness.flowLanes.pin(tight, { parallelism: 7 });
    const pinned = await laneOf(harness);
    const flow = { key: oneAtATime.key, limits: { parallelism: 3, rate: 9, periodMs: 5_000 } };
    await insert(harness, { flow });

    expect(pinned.limits).toEqual({ ...oneAtATime.limits, parallelism: 7 });
    expect(pinned.wakeAt).toBeLessThanOrEqual(harness.now());
    expect(await laneOf(harness)).toMatchObject({
      limits: { parallelism: 7, rate: 9, periodMs: 5_000 },
      pins: { parallelism: true, rate: false },
    });
  });

  it("a pin of the rate alone leaves the period, and gives a new key the default", async (harness) => {
    await harness.flowLanes.pin(tight, { rate: { rate: 2 } });
    expect((await laneOf(harness)).limits).toEqual({ rate: 2, periodMs: 1_000 });

    await harness.flowLanes.pin(tight, { rate: { rate: 2, periodMs: 60_000 } });
    await harness.flowLanes.pin(tight, { rate: { rate: 3 } });

    expect((await laneOf(harness)).limits).toEqual({ rate: 3, periodMs: 60_000 });
  });

  it("a pinned rate keeps its period, also of a key that its pin made", async (harness) => {
    await harness.flowLanes.pin(tight, { rate: { rate: 2, periodMs: 60_000 } });
    await insert(harness, { flow: oneAtATime });
    const unlimited = { key: oneAtATime.key, limits: { rate: 5, periodMs: 1_000 } };
    await insert(harness, { flow: unlimited });

    expect(await laneOf(harness)).toMatchObject({
      limits: { rate: 2, periodMs: 60_000 },
      pins: { parallelism: false, rate: true },
    });
    expect((await laneOf(harness)).limits.parallelism).toBeUndefined();
  });

  it("an unpinned limit keeps its value until the next publish", async (harness) => {
    await harness.flowLanes.pin(tight, {
      parallelism: 7,
      rate: { rate: 2, periodMs: 60_000 },
    });
    const unpinned = await harness.flowLanes.unpin(tightLane, { parallelism: true, rate: false });
    const before = await laneOf(harness);
    await insert(harness, { flow: oneAtATime });

    expect(unpinned).toBe(true);
    expect(before.limits).toEqual({ parallelism: 7, rate: 2, periodMs: 60_000 });
    expect(await laneOf(harness)).toMatchObject({
      limits: { parallelism: 1, rate: 2, periodMs: 60_000 },
      pins: { parallelism: false, rate: true },
    });
    const none = flowLaneId(aTenant, "unheard-of");
    expect(await harness.flowLanes.unpin(none, { parallelism: true, rate: true })).toBe(false);
  });

  it("waiting messages are counted in each line", async (harness) => {
    const [first] = [await insert(harness, { flow: oneAtATime })];
    await insert(harness, { flow: oneAtATime });
    await insert(harness, { flow: oneAtATime, delayMs: 60_000 });
    await insert(harness, { flow: { ...oneAtATime, key: "other" } });
    await harness.flowLanes.promote(tightLane, [first.id], harness.now() + limits.grantMs);
    const other = flowLaneId(aTenant, "other");

    const waiting = await harness.flowLanes.waiting([tightLane, other, flowLaneId(aTenant, "no")]);

    expect(waiting).toEqual(
      new Map([
        [tightLane, 1],
        [other, 1],
      ]),
    );
  });

  it("a paused or pinned lane is never forgotten, and a freed one a day after its last use", async (harness) => {
    await harness.flowLanes.pause(tight);
    await harness.advance(2 * limits.laneKeptMs);
    await harness.records.removeFinished(allShards, harness.now(), 10);
    const kept = await harness.flowLanes.rows([tightLane]);
    await harness.flowLanes.pin(tight, { parallelism: 1 });
    await harness.flowLanes.resume(tight);
    const pinned = await laneOf(harness);
    await harness.flowLanes.rest(tightLane, pinned.seq, undefined, undefined);
    await harness.advance(2 * limits.laneKeptMs);
    await harness.records.removeFinished(allShards, harness.now(), 10);
    const keptPinned = await harness.flowLanes.rows([tightLane]);
    await harness.flowLanes.unpin(tightLane, { parallelism: true, rate: true });
    const { seq } = await laneOf(harness);
    await harness.flowLanes.rest(tightLane, seq, undefined, undefined);
    await harness.advance(2 * limits.laneKeptMs);
    await harness.records.removeFinished(allShards, harness.now(), 10);

    expect([kept.length, keptPinned.length]).toEqual([1, 1]);
    expect(await harness.flowLanes.rows([tightLane])).toEqual([]);
  });
}

async function laneOf({ flowLanes }: RecordsHarness): Promise<FlowLane> {
  const [row] = await flowLanes.rows([tightLane]);
  if (!row) throw new Error("the lane is not there");
  return row;
}
