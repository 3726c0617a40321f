/** The alarms of a collection, by its index of shard and `wakeAt`, which holds only documents that have an alarm. */
import { limits } from "@posthaste/domain";
import { type UpdateFilter } from "mongodb";
import { type Connection } from "./connection.ts";
import { isUnderstood } from "./messages/stored.ts";

type Answer = Pick<Connection, "again" | "collection">;
type StoredAlarm = { readonly _id: string; readonly shard: number; readonly wakeAt?: number };

export const dueIn = (shards: readonly number[], now: number) => ({
  shard: { $in: [...shards] },
  wakeAt: { $lte: now, $exists: true },
  ...isUnderstood,
});

/** Moves the alarms of `found` that are still due, by `limits.ringAheadMs` unless `setting` says more. */
export async function moveAhead(
  { again, collection }: Answer,
  name: string,
  found: readonly { readonly _id: string }[],
  now: number,
  setting: (wakeAt: number) => UpdateFilter<StoredAlarm> = (wakeAt) => ({ $set: { wakeAt } }),
): Promise<void> {
  if (found.length === 0) return;
  const _id = { $in: found.map((each) => each._id) };
  const isDue = { wakeAt: { $lte: now, $exists: true } };
  const update = setting(now + limits.ringAheadMs);
  await again(() => collection<StoredAlarm>(name).updateMany({ _id, ...isDue }, update));
}

export async function nextAlarmOf(
  { again, collection }: Answer,
  name: string,
  shards: readonly number[],
): Promise<number | undefined> {
  const isSet = { wakeAt: { $gt: 0, $exists: true }, ...isUnderstood };
  const byAlarm = { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } } as const;
  const next = await again(() =>
    collection<StoredAlarm>(name).findOne({ shard: { $in: [...shards] }, ...isSet }, byAlarm),
  );
  return next?.wakeAt;
}
