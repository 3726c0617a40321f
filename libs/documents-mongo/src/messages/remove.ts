/**
 * Removal: the sweep of what has been finished for a while (I5), in ranges. Derived ids leave a tombstone: their cause
 * may be worked through again. A group's parent goes when no child remains, since they have its body.
 */
import { isDerived, limits, type MessageId } from "@posthaste/domain";
import { type AnyBulkWriteOperation } from "mongodb";
import { sweepLanes } from "./lanes.ts";
import { inOneReply, type Rooms } from "./rooms.ts";
import { type StoredRecord } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type RemoveFinished = (
  shards: readonly number[],
  endedBefore: number,
  limit: number,
) => Promise<number>;

type Finished = Pick<StoredRecord, "_id" | "message">;

export function createRemoveFinished(rooms: Rooms): RemoveFinished {
  return async (shards, endedBefore, limit) => {
    let removed = 0;
    // Ends with the finished records, or at `limit`; parents that wait for children cost a round and count for nothing.
    for (let round = 0; removed < limit && round < roundsMax; round++) {
      const portion = Math.min(limit - removed, removedPerCallMax);
      const found = await findFinished(rooms, shards, endedBefore, portion);
      removed += await removeAll(rooms, found);
      if (found.length < portion) break;
    }
    await sweepTombstones(rooms, limit);
    await sweepLanes(rooms, shards, lanesPerSweepMax);
    return removed;
  };
}

const removedPerCallMax = 1_000;
const roundsMax = 20;
const lanesPerSweepMax = 500;

const findFinished = (
  { again, messages }: Rooms,
  shards: readonly number[],
  endedBefore: number,
  limit: number,
): Promise<readonly Finished[]> =>
  again(() =>
    messages
      .find(
        {
          shard: { $in: [...shards] },
          sweepAt: { $lt: endedBefore, $exists: true },
          outbox: { $size: 0 },
        },
        { ...inOneReply, projection: { "message.fanOut.group": 1 } },
      )
      .sort({ sweepAt: 1 })
      .limit(limit)
      .toArray(),
  );

/** Answers how many went. */
async function removeAll(rooms: Rooms, found: readonly Finished[]): Promise<number> {
  const parents = found.filter(isParent);
  const others = found.filter((each) => !isParent(each));
  await removeThese(rooms, others);
  const { free, needed } = await divide(rooms, parents);
  await removeThese(rooms, free);
  await postpone(rooms, needed);
  return others.length + free.length;
}

const isParent = ({ message }: Finished): boolean => message.fanOut !== undefined;

async function removeThese(
  { again, messages, clock }: Rooms,
  records: readonly Finished[],
): Promise<void> {
  const ids = records.map(({ _id }) => _id);
  const derived = ids.filter(isDerived);
  const random = ids.filter((id) => !isDerived(id));
  const operations: AnyBulkWriteOperation<StoredRecord>[] = derived.map((_id) => ({
    replaceOne: {
      filter: { _id },
      replacement: tombstone(clock.now() + limits.tombstoneMs),
    },
  }));
  if (random.length > 0) operations.push({ deleteMany: { filter: { _id: { $in: random } } } });
  await writeAll(again, messages, operations);
}

/** A document with nothing else (stored.ts, I2). */
const tombstone = (tombstoneUntil: number) => ({ tombstoneUntil }) as Omit<StoredRecord, "_id">;

async function divide(
  { again, messages }: Rooms,
  parents: readonly Finished[],
): Promise<{ readonly free: readonly Finished[]; readonly needed: readonly MessageId[] }> {
  if (parents.length === 0) return { free: [], needed: [] };
  const filter = { bodyOf: { $in: parents.map(({ _id }) => _id) } };
  const having = new Set(await again(() => messages.distinct("bodyOf", filter)));
  return {
    free: parents.filter(({ _id }) => !having.has(_id)),
    needed: parents.map(({ _id }) => _id).filter((id) => having.has(id)),
  };
}

/** So that parents of children who wait for a month do not stand before what can go. */
async function postpone(
  { again, messages, clock }: Rooms,
  parents: readonly MessageId[],
): Promise<void> {
  if (parents.length === 0) return;
  const update = { $set: { sweepAt: clock.now() + parentsLookMs } };
  await again(() => messages.updateMany({ _id: { $in: [...parents] } }, update));
}
const parentsLookMs = 300_000;

async function sweepTombstones({ again, messages, clock }: Rooms, limit: number): Promise<void> {
  const over = { tombstoneUntil: { $lte: clock.now(), $exists: true } };
  const found = await again(() =>
    messages
      .find(over, { projection: { _id: 1 } })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return;
  const ids = found.map(({ _id }) => _id);
  await again(() => messages.deleteMany({ _id: { $in: ids }, ...over }));
}
