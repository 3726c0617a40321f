/**
 * The alarms of queues, and how messages change the rows of their queues.
 *
 * (1) every write that sets a queue's alarm raises `entries`, the fence of `rest`.
 * (2) a queue's row is written after the record is in line. So if `entries`, read before the line, has not changed, no record
 *     has joined unseen. Until the row is written, the record has an alarm of its own.
 * (3) places are given from `place` as read before the insert, which is raised after it, as in flow lanes.
 * (4) an insert that finds the row deleted makes the queue anew in the same write.
 * (5) a queue has the highest format of all messages that have joined.
 */
import {
  type FanOut,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type QueueId,
  cutOff,
} from "@posthaste/domain";
import { type Rung } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Due, ringDue } from "../alarms.ts";
import { type Store } from "../messages/store.ts";
import { upsertAll } from "../writes/write-all.ts";
import { asMade, asPublished, queuesName, queuesOf, type StoredQueue } from "./stored-queue.ts";
import { idsOf } from "../query/ids-of.ts";

type Queued = Pick<Message, "id" | "tenant" | "queue" | "turnOf" | "format">;
export type QueueEntry = {
  readonly message: Queued;
  readonly place: number | undefined;
  /** The fan-out reserved the place, and made the queue anew if necessary: a queue deleted since stays deleted. */
  readonly isReserved?: boolean;
};

export async function queuePlacesOf(
  store: Store,
  records: readonly MessageRecord[],
  reservedFor: (message: Message) => number | undefined,
): Promise<ReadonlyMap<MessageId, number>> {
  const ids = new Set(records.flatMap(({ message }) => message.queue ?? []));
  if (ids.size === 0) return none;
  const found = await store.again(() =>
    queuesOf(store)
      .find({ _id: { $in: [...ids] } }, { projection: { place: 1 } })
      .toArray(),
  );
  const last = new Map(found.map(({ _id, place = 0 }) => [_id, place]));
  const places = new Map<MessageId, number>();
  for (const { message } of records) {
    if (message.queue === undefined) continue;
    const reserved = reservedFor(message);
    const place = reserved ?? (last.get(message.queue) ?? 0) + 1;
    if (reserved === undefined) last.set(message.queue, place);
    places.set(message.id, place);
  }
  return places;
}
const none: ReadonlyMap<MessageId, number> = new Map();

export async function enterQueues(store: Store, entries: readonly QueueEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const now = store.clock.now();
  const byQueue = Map.groupBy(entries, ({ message }) => message.queue);
  const writes = [...byQueue].flatMap(([queue, group]) => entering(queue, group, now));
  await upsertAll(store.again, queuesOf(store), writes);
}

function entering(
  _id: QueueId | undefined,
  entries: readonly QueueEntry[],
  now: number,
): readonly AnyBulkWriteOperation<StoredQueue>[] {
  const [first] = entries;
  if (_id === undefined || !first) return [];
  const { tenant } = first.message;
  const place = Math.max(0, ...entries.map((entry) => entry.place ?? 0));
  const { format: own, ...fixed } = asMade(tenant, _id);
  const format = Math.max(own, ...entries.map(({ message }) => message.format ?? 1));
  const enter = {
    ...setting({ $min: { wakeAt: now } }),
    $max: { place, format },
    $setOnInsert: { ...fixed, ...asPublished(now) },
  };
  const entered = { updateOne: { filter: { _id }, update: enter, upsert: true } };
  return entries.every(({ isReserved }) => isReserved) ? [entered] : [anew(_id, now), entered];
}

/** Returns the write that makes a deleted queue anew. */
export const anew = (_id: QueueId, now: number): AnyBulkWriteOperation<StoredQueue> => ({
  updateOne: {
    filter: { _id, endedAt: { $exists: true } },
    update: { $set: asPublished(now), $unset: { endedAt: "" as const } },
  },
});

export async function lastPlaceOf(store: Store, _id: QueueId): Promise<number> {
  const projection = { place: 1 };
  const row = await store.again(() => queuesOf(store).findOne({ _id }, { projection }));
  return row?.place ?? 0;
}

/**
 * Writes into the queue's row that a fan-out has places for its children. Raises `turnsVersion`, so that an earlier
 * look gives nothing: later messages would have their turn before the children.
 */
export async function enterFanOut(
  store: Store,
  { tenant, queue, endpointCount, format = 1 }: FanOut,
  first: number,
): Promise<void> {
  if (queue === undefined) return;
  const now = store.clock.now();
  const { turnsVersion: _, format: own, ...fixed } = asMade(tenant, queue);
  const update = {
    ...setting({ $min: { wakeAt: now } }),
    $inc: { entries: 1, turnsVersion: 1 },
    $max: { place: first + endpointCount - 1, format: Math.max(own, format) },
    $set: { hasFanOut: true as const },
    $setOnInsert: { ...fixed, ...asPublished(now) },
  };
  await upsertAll(store.again, queuesOf(store), [
    anew(queue, now),
    { updateOne: { filter: { _id: queue }, update, upsert: true } },
  ]);
}

const setting = <T extends { $min: { wakeAt: number } } | { $set: { wakeAt: number } }>(
  alarm: T,
) => ({ ...alarm, $inc: { entries: 1 } });

/** Sets the alarms of the queues of `messages`, whose turns may have ended, to now. */
export async function wakeQueues(store: Store, messages: readonly Queued[]): Promise<void> {
  const ids = new Set(messages.flatMap(({ queue, turnOf }) => queue ?? turnOf?.queue ?? []));
  if (ids.size === 0) return;
  const update = setting({ $min: { wakeAt: store.clock.now() } });
  await store.again(() => queuesOf(store).updateMany({ _id: { $in: [...ids] } }, update));
}

export async function ringQueues(store: Store, ...due: Due): Promise<readonly Rung[]> {
  const found = await ringDue<StoredQueue>(store, queuesName, due, { _id: 1 }, (wakeAt) =>
    setting({ $set: { wakeAt } }),
  );
  return found.map(({ _id: lane }) => ({ kind: "lane", lane }));
}

export async function sweepQueues(
  store: Store,
  shards: readonly number[],
  limit: number,
): Promise<void> {
  const queues = queuesOf(store);
  const longEnded = {
    endedAt: { $lte: cutOff(limits.laneKeptMs, store.clock.now()), $exists: true },
    wakeAt: { $exists: false },
  };
  const mine = { shard: { $in: [...shards] }, ...longEnded };
  const ids = await idsOf(store.again, queues, mine, { sort: { endedAt: 1 }, limit });
  if (ids.length === 0) return;
  const needed = await store.again(() =>
    store.messages.distinct("queue", { queue: { $in: [...ids] } }),
  );
  const gone = [...new Set(ids).difference(new Set(needed))];
  await store.again(() => queues.deleteMany({ _id: { $in: gone }, ...longEnded }));
}
