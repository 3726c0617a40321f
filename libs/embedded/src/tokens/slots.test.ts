import { describe, expect, it } from "@jest/globals";
import { flowLaneId, limits } from "@posthaste/domain";
import { aTenant, epochStart, newId } from "@posthaste/testing";
import { Slots } from "./slots.ts";

/** A message in each of `keys` lanes, a millisecond after the other. Answers the most lanes that were known at once. */
function grantInNewLanes(slots: Slots, keys: number, periodMs: number): number {
  let most = 0;
  for (let n = 0; n < keys; n++) {
    const now = epochStart + n;
    const lane = flowLaneId(aTenant, `key ${n}`);
    const id = newId();
    slots.restore(lane, [], undefined, { now, passedMs: n });
    slots.acquire(lane, [id], { rate: 1, periodMs }, { now, passedMs: n });
    slots.use(lane, [id], n);
    slots.release(lane, [id]);
    most = Math.max(most, slots.size);
  }
  return most;
}

describe("the lanes that are known", () => {
  it("are those of the last lease, when their windows are of a second", () => {
    const most = grantInNewLanes(new Slots(), 200_000, 1_000);

    expect(most).toBeLessThan(2 * limits.leaseMs);
  });

  it("are a hundred thousand at most, when their windows are of a week", () => {
    const most = grantInNewLanes(new Slots(), 120_000, limits.flowPeriodMsMax);

    expect(most).toBeLessThanOrEqual(100_000);
  });

  it("stay as long as a slot is held, however many others come", () => {
    const slots = new Slots();
    const keys = 2 * limits.leaseMs;
    const [lane, holder] = [flowLaneId(aTenant, "held"), newId()];
    const at = { now: epochStart, passedMs: 0 };
    slots.restore(lane, [], undefined, at);
    slots.acquire(lane, [holder], { parallelism: 1, periodMs: 1_000 }, at);
    slots.use(lane, [holder], 0);
    slots.hold(lane, [holder], keys);

    grantInNewLanes(slots, keys, 1_000);

    const { granted, isUnknown } = slots.acquire(
      lane,
      [newId()],
      { parallelism: 1, periodMs: 1_000 },
      { now: epochStart + keys, passedMs: keys },
    );
    expect({ granted, isUnknown }).toEqual({ granted: [], isUnknown: undefined });
  });
});
