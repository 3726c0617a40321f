/** Lanes as callers see and set them: by key, one at a time. */
import {
  type Flow,
  type FlowId,
  flowLaneId,
  type FlowLane,
  type TenantId,
} from "@posthaste/domain";
import { type FlowLanes } from "@posthaste/ports";
import { type UpdateFilter } from "mongodb";
import { lanesName, rowFrom, settingAlarm } from "./lanes.ts";
import { inOneReply, type Store } from "../messages/store.ts";
import { type StoredLane } from "./stored-lane.ts";
import { upsertAll } from "../writes/write-all.ts";

type ByHand = Pick<
  FlowLanes,
  "list" | "waiting" | "pause" | "resume" | "pin" | "unpin" | "keepWindow"
>;

export function createLanesByHand(store: Store): ByHand {
  const { again, clock, lanes, messages } = store;

  /** `limits`: the limits that a new row gets, where `change` does not set them. */
  const set = (
    { lane: _id, tenant, key, shard }: Flow,
    change: UpdateFilter<StoredLane>,
    limits: UpdateFilter<StoredLane>["$setOnInsert"],
  ): Promise<void> => {
    const $setOnInsert = { tenant, key, shard, ...limits };
    const update = { ...change, $max: { usedAt: clock.now() }, $setOnInsert };
    return upsertAll(again, lanes, [{ updateOne: { filter: { _id }, update, upsert: true } }]);
  };

  return {
    list: (tenant, search, limit) => listLanes(store, tenant, search, limit),
    waiting: async (ids) => {
      const isWaiting = { lane: { $in: [...ids] }, state: "waiting" };
      const counted = { _id: "$lane", n: { $sum: 1 } };
      const found = await again(() =>
        messages
          .aggregate<{ _id: FlowId; n: number }>([{ $match: isWaiting }, { $group: counted }])
          .toArray(),
      );
      return new Map(found.map(({ _id, n }) => [_id, n]));
    },
    pause: (flow) =>
      set(flow, { $set: { paused: true }, $inc: { entries: 0 } }, { limits: flow.limits }),
    resume: (flow) => {
      const alarm = settingAlarm({ $min: { wakeAt: clock.now() } });
      return set(flow, { ...alarm, $unset: { paused: "" } }, { limits: flow.limits });
    },
    pin: (flow, { parallelism, rate }) => {
      const alarm = settingAlarm({ $min: { wakeAt: clock.now() } });
      const $set = {
        ...(parallelism !== undefined && {
          pinnedParallelism: true as const,
          "limits.parallelism": parallelism,
        }),
        ...(rate && { pinnedRate: true as const, "limits.rate": rate.rate }),
        ...(rate?.periodMs !== undefined && { "limits.periodMs": rate.periodMs }),
      };
      const { periodMs } = flow.limits;
      const isGiven = rate?.periodMs !== undefined;
      return set(flow, { ...alarm, $set }, isGiven ? {} : { "limits.periodMs": periodMs });
    },
    keepWindow: async (_id, window) => {
      await again(() => lanes.updateOne({ _id }, { $set: { window } }));
    },
    unpin: async (_id, parts) => {
      const $unset = {
        ...(parts.parallelism && { pinnedParallelism: "" as const }),
        ...(parts.rate && { pinnedRate: "" as const }),
      };
      const { matchedCount } = await again(() => lanes.updateOne({ _id }, { $unset }));
      return matchedCount > 0;
    },
  };
}

/** A lane's id is the tenant's name, then the key, so the index of ids has the keys in order. */
async function listLanes(
  { heavy }: Store,
  tenant: TenantId,
  search: string,
  limit: number,
): Promise<readonly FlowLane[]> {
  const from = flowLaneId(tenant, "");
  const _id = { $gte: from, $lt: flowLaneId(tenant, afterAnyKey) };
  const key = { $regex: search.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`) };
  const found = await heavy.again(tenant)(() =>
    heavy
      .collection<StoredLane>(lanesName)
      .find({ _id, ...(search !== "" && { key }) }, inOneReply)
      .sort({ _id: 1 })
      .limit(limit)
      .maxTimeMS(heavy.msMax)
      .toArray(),
  );
  return found.map(rowFrom);
}

/** Keys are ASCII, so this character sorts after all of them. */
const afterAnyKey = "\u{10ffff}";
