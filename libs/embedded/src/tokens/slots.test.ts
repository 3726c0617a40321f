import { describe, expect, it } from "@jest/globals";
import { flowLaneId, limits } from "@posthaste/domain";
import { aTenant, epochStart, newId } from "@posthaste/testing";
import { Slots } from "./slots.ts";

const stepMs = 20;

/** Takes a slot in each of `keys` lanes, one after the other, and returns the most lanes that were known at once. */
function grantInNewLanes(slots: Slots, keys: number, periodMs: number): number {
  let most = 0;
  for (let n = 0; n < keys; n++) {
    const passedMs = n * stepMs;
    const now = epochStart + passedMs;
    const lane = flowLaneId(aTenant, `key ${n}`);
    const id = newId();
    slots.restore(lane, [], undefined, { now, passedMs });
    slots.acquire(lane, [id], { rate: 1, periodMs }, { now, passedMs });
    slots.use(lane, [id], passedMs);
    slots.release(lane, [id]);
    most = Math.max(most, slots.size);
  }
  return most;
}

describe("the lanes that are known", () => {
  it("are the lanes of the last lease, if their windows last a second", () => {
    const most = grantInNewLanes(new Slots(), (4 * limits.leaseMs) / stepMs, 1_000);

    expect(most).toBeLessThan((2 * limits.leaseMs) / stepMs);
  });

  it("are as many as they may be at most, when their windows are of a week", () => {
    const most = grantInNewLanes(new Slots(1_000), 1_200, limits.flowPeriodMsMax);

    expect(most).toBeLessThanOrEqual(1_000);
  });

  it("stay as long as a slot is held, however many others come", () => {
    const slots = new Slots();
    const keys = (2 * limits.leaseMs) / stepMs;
    const endsMs = keys * stepMs;
    const [lane, holder] = [flowLaneId(aTenant, "held"), newId()];
    const at = { now: epochStart, passedMs: 0 };
    slots.restore(lane, [], undefined, at);
    slots.acquire(lane, [holder], { parallelism: 1, periodMs: 1_000 }, at);
    slots.use(lane, [holder], 0);
    slots.hold(lane, [holder], endsMs);

    grantInNewLanes(slots, keys, 1_000);

    const { granted, isUnknown } = slots.acquire(
      lane,
      [newId()],
      { parallelism: 1, periodMs: 1_000 },
      { now: epochStart + endsMs, passedMs: endsMs },
    );
    expect({ granted, isUnknown }).toEqual({ granted: [], isUnknown: undefined });
  });
});
