/**
 * Repairs alarms after the store's clock was set back: alarms and ends written before are as far ahead as the clock
 * was. Times that callers set stay: delays, schedules, waits of runs. All others are moved once: retries come earlier
 * by that much, and the rest rings within `limits.ringAheadMs`. By then a running call has renewed its lease.
 */
import { beatId, beatsName, type StoredBeat } from "../link/beats.ts";
import { tooFarAheadAfter, limits, skewMsMax, isTooFarAhead } from "@posthaste/domain";
import { bulkActionsName } from "../bulk-actions/stored.ts";
import { fanOutsName } from "../fan-outs/stored-fan-out.ts";
import { queuesName } from "../queues/stored-queue.ts";
import { lanesName } from "../lanes/lanes.ts";
import { type Store } from "./store.ts";
import { alarmFields, collectionName, isKnownFormat, sweepFields } from "./stored.ts";

const counted = { $inc: { entries: 1 } };

/** The distance between rings of a due record grows. Held records, which may be many, share the index and are skipped. */
const record = { collection: collectionName, field: alarmFields.record } as const;
const ofRecords = [
  { ...record, aheadMsMax: limits.ringAheadMsMax, where: { state: "due" } },
  {
    ...record,
    aheadMsMax: limits.ringAheadMs,
    where: { state: { $in: ["claimed", "waiting"] } },
  },
] as const;

/** Each is searched along its index, and mostly nothing is found. Setting the alarm of a lane or queue raises `entries`. */
const others = [
  ...sweepFields.map((field) => ({ collection: collectionName, field, aheadMsMax: 0 }) as const),
  { collection: fanOutsName, field: "sweepAt", aheadMsMax: 0 },
  { collection: collectionName, field: alarmFields.followUp, aheadMsMax: limits.ringAheadMs },
  { collection: collectionName, field: alarmFields.fact, aheadMsMax: limits.ringAheadMs },
  { collection: lanesName, field: "wakeAt", aheadMsMax: limits.ringAheadMs, counted },
  { collection: queuesName, field: "wakeAt", aheadMsMax: limits.ringAheadMs, counted },
  { collection: fanOutsName, field: "wakeAt", aheadMsMax: limits.ringAheadMs },
  { collection: bulkActionsName, field: "wakeAt", aheadMsMax: limits.ringAheadMs },
] as const;

/** Returns filter and update that do the same as `movedUp` of the domain. */
function retriesMovedUp(now: number, setBackMs: number) {
  const waits = setBackMs > 0 ? setBackMs - skewMsMax : { $add: ["$waitMs", skewMsMax] };
  const movedUp = (field: string) => ({
    $max: [now, { $min: [{ $subtract: [field, setBackMs] }, { $add: [now, "$waitMs"] }] }],
  });
  return {
    filter: {
      wakeAt: { $gt: now, $exists: true },
      state: "held",
      waitMs: { $exists: true },
      $expr: { $gt: ["$dueAt", { $add: [now, waits] }] },
    },
    update: [{ $set: { dueAt: movedUp("$dueAt"), wakeAt: movedUp("$wakeAt") } }],
  };
}

/**
 * Moves alarms that are too far ahead. `setBackMs`: by how much the clock was set back now. For shards that are new
 * to this process it is 0, since their clock may have been set back earlier: then records, of which many wait for
 * callers' times, are checked only if the server's beat shows that its clock was ahead.
 */
export async function moveAlarmsUp(
  store: Store,
  shards: readonly number[],
  { now, setBackMs }: { readonly now: number; readonly setBackMs: number },
): Promise<void> {
  const { again, collection } = store;
  const mine = { shard: { $in: [...shards] }, ...isKnownFormat };
  const withRecords = setBackMs > 0 || (await wasAhead(store, now));
  if (withRecords) {
    const { filter, update } = retriesMovedUp(now, setBackMs);
    await again(() => collection(collectionName).updateMany({ ...mine, ...filter }, update));
  }
  for (const { aheadMsMax, collection: name, field, ...more } of withRecords
    ? [...ofRecords, ...others]
    : others) {
    const filter = {
      ...mine,
      [field]: { $gt: tooFarAheadAfter(aheadMsMax, now), $exists: true },
      ...("where" in more && more.where),
    };
    const update = {
      $set: { [field]: now + limits.ringAheadMs },
      ...("counted" in more && more.counted),
    };
    await again(() => collection(name).updateMany(filter, update));
  }
}

async function wasAhead({ again, collection }: Store, now: number): Promise<boolean> {
  const beat = await again(() => collection<StoredBeat>(beatsName).findOne({ _id: beatId }));
  return isTooFarAhead(beat?.latest?.getTime() ?? 0, 0, now);
}
