/** The alarms of bulk actions, along an index that holds only those that are under way. */
import { type BulkAction, limits } from "@posthaste/domain";
import { type Connection } from "../connection.ts";
import { actionFrom, bulkActionsName, type StoredBulkAction } from "./stored.ts";

type Answer = Pick<Connection, "again" | "collection">;

/** Rings due alarms, moving each ahead. */
export async function ringBulkActions(
  { again, collection }: Answer,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly BulkAction[]> {
  const actions = collection<StoredBulkAction>(bulkActionsName);
  const isDue = { wakeAt: { $lte: now, $exists: true } };
  const found = await again(() =>
    actions
      .find({ shard: { $in: [...shards] }, ...isDue })
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return [];
  const ids = found.map(({ _id }) => _id);
  const ahead = { $set: { wakeAt: now + limits.ringAheadMs } };
  await again(() => actions.updateMany({ _id: { $in: ids }, ...isDue }, ahead));
  return found.map(actionFrom);
}

export async function nextBulkAlarm(
  { again, collection }: Answer,
  shards: readonly number[],
): Promise<number | undefined> {
  const actions = collection<StoredBulkAction>(bulkActionsName);
  const next = await again(() =>
    actions.findOne(
      { shard: { $in: [...shards] }, wakeAt: { $gt: 0, $exists: true } },
      { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } },
    ),
  );
  return next?.wakeAt;
}
