/**
 * After the store's clock was set back, alarms and ends that were written before stand as far ahead as the clock was. What
 * callers named stays: delays, schedules, waits of runs. The rest is brought home once: retries come as much sooner, and all
 * else rings within `limits.ringAheadMs`. By then a call that runs has renewed its lease.
 */
import { aheadFrom, limits, skewMsMax } from "@posthaste/domain";
import { bulkActionsName } from "../bulk-actions/stored.ts";
import { fanOutsName } from "../fan-outs/stored-fan-out.ts";
import { queuesName } from "../queues/stored-queue.ts";
import { lanesName } from "./lanes.ts";
import { type Rooms } from "./rooms.ts";
import { alarmFields, collectionName, isUnderstood } from "./stored.ts";

const counted = { $inc: { entries: 1 } };

/** A record that is due rings at growing distances. Among these are held ones, which may be many, and are passed over. */
const record = { collection: collectionName, field: alarmFields.record } as const;
const ofRecords = [
  { ...record, aheadMsMax: limits.ringAheadMsMax, where: { state: "due" } },
  {
    ...record,
    aheadMsMax: limits.ringAheadMs,
    where: { state: { $in: ["claimed", "waiting"] } },
  },
] as const;

/** Each along its index, and mostly none. Of a lane and a queue the alarm is counted. */
const others = [
  { collection: collectionName, field: "sweepAt", aheadMsMax: 0 },
  { collection: collectionName, field: "owedSweepAt", aheadMsMax: 0 },
  { collection: fanOutsName, field: "sweepAt", aheadMsMax: 0 },
  { collection: collectionName, field: alarmFields.followUp, aheadMsMax: limits.ringAheadMs },
  { collection: collectionName, field: alarmFields.fact, aheadMsMax: limits.ringAheadMs },
  { collection: lanesName, field: "wakeAt", aheadMsMax: limits.ringAheadMs, counted },
  { collection: queuesName, field: "wakeAt", aheadMsMax: limits.ringAheadMs, counted },
  { collection: fanOutsName, field: "wakeAt", aheadMsMax: limits.ringAheadMs },
  { collection: bulkActionsName, field: "wakeAt", aheadMsMax: limits.ringAheadMs },
] as const;

/** At a start, before which the clock may have been set back, records are left to their alarms. */
export async function bringHome(
  { again, collection }: Rooms,
  shards: readonly number[],
  { now, setBackMs }: { readonly now: number; readonly setBackMs: number },
): Promise<void> {
  const all = setBackMs > 0 ? [...ofRecords, ...others] : others;
  if (setBackMs > 0) {
    // Some would have been due by now.
    const far = { $gt: now + (setBackMs - skewMsMax) };
    const filter = {
      shard: { $in: [...shards] },
      wakeAt: { ...far, $exists: true },
      state: "held",
      dueAt: far,
      $or: [{ retried: { $gt: 0 } }, { deferrals: { $gt: 0 } }],
      ...isUnderstood,
    };
    const update = { $inc: { wakeAt: -setBackMs, dueAt: -setBackMs } };
    await again(() => collection(collectionName).updateMany(filter, update));
  }
  for (const { aheadMsMax, collection: name, field, ...more } of all) {
    const filter = {
      shard: { $in: [...shards] },
      [field]: { $gt: aheadFrom(aheadMsMax, now), $exists: true },
      ...("where" in more && more.where),
      ...isUnderstood,
    };
    const update = {
      $set: { [field]: now + limits.ringAheadMs },
      ...("counted" in more && more.counted),
    };
    await again(() => collection(name).updateMany(filter, update));
  }
}
