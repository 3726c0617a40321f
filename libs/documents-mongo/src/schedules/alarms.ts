/** The alarms of schedules, along an index that holds only those that are to ring. */
import { limits, type Schedule } from "@posthaste/domain";
import { type Connection } from "../connection.ts";
import { isUnderstood } from "../messages/stored.ts";
import { scheduleFrom, schedulesName, type StoredSchedule } from "./stored.ts";

type Answer = Pick<Connection, "again" | "collection">;

/** Rings due alarms, moving each ahead. */
export async function ringSchedules(
  { again, collection }: Answer,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly Schedule[]> {
  const schedules = collection<StoredSchedule>(schedulesName);
  const isDue = { wakeAt: { $lte: now, $exists: true }, ...isUnderstood };
  const found = await again(() =>
    schedules
      .find({ shard: { $in: [...shards] }, ...isDue }, { projection: { body: 0 } })
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return [];
  const ids = found.map(({ _id }) => _id);
  const ahead = { $set: { wakeAt: now + limits.ringAheadMs } };
  await again(() => schedules.updateMany({ _id: { $in: ids }, ...isDue }, ahead));
  return found.map(scheduleFrom);
}

export async function nextScheduleAlarm(
  { again, collection }: Answer,
  shards: readonly number[],
): Promise<number | undefined> {
  const schedules = collection<StoredSchedule>(schedulesName);
  const isSet = { wakeAt: { $gt: 0, $exists: true }, ...isUnderstood };
  const next = await again(() =>
    schedules.findOne(
      { shard: { $in: [...shards] }, ...isSet },
      { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } },
    ),
  );
  return next?.wakeAt;
}
