/** The alarms of a collection, by its index of shard and `wakeAt`, which holds only documents that have an alarm. */
import { limits } from "@posthaste/domain";
import { type Document, type UpdateFilter } from "mongodb";
import { type Connection } from "./connection.ts";
import { isKnownFormat } from "./messages/stored.ts";

type Answer = Pick<Connection, "again" | "collection">;
type StoredAlarm = { readonly _id: string; readonly shard: number; readonly wakeAt?: number };

/** Names the shards of the wanted documents, the time by which they are due, and the highest number of them. */
export type Due = readonly [shards: readonly number[], now: number, limit: number];

/** Returns the documents that are due, and moves their alarms by `limits.ringAheadMs`, by what `setting` says. */
export async function ringDue<Stored extends StoredAlarm>(
  { again, collection }: Answer,
  name: string,
  [shards, now, limit]: Due,
  projection: Document,
  setting: (wakeAt: number) => UpdateFilter<StoredAlarm> = (wakeAt) => ({ $set: { wakeAt } }),
): Promise<readonly Stored[]> {
  const alarms = collection<StoredAlarm>(name);
  const isDue = { wakeAt: { $lte: now, $exists: true } };
  const found = await again(() =>
    alarms
      .find<Stored>({ shard: { $in: [...shards] }, ...isDue, ...isKnownFormat }, { projection })
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length > 0) {
    const _id = { $in: found.map((each) => each._id) };
    const update = setting(now + limits.ringAheadMs);
    await again(() => alarms.updateMany({ _id, ...isDue }, update));
  }
  return found;
}

export async function nextAlarmOf(
  { again, collection }: Answer,
  name: string,
  shards: readonly number[],
): Promise<number | undefined> {
  const isSet = { wakeAt: { $gt: 0, $exists: true }, ...isKnownFormat };
  const byAlarm = { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } } as const;
  const next = await again(() =>
    collection<StoredAlarm>(name).findOne({ shard: { $in: [...shards] }, ...isSet }, byAlarm),
  );
  return next?.wakeAt;
}
