/**
 * Makes, changes, pauses and deletes queues. Each change of an existing queue raises `turnsVersion`, so that a look
 * that read the row before gives nothing after it (admit.ts (1)).
 */
import {
  mayTakeBack,
  type MessageId,
  queueId,
  type QueueId,
  takenBackEpoch,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type Changed, type QueueChange, type TakenBack } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createCancel } from "../messages/cancel.ts";
import { type Store } from "../messages/store.ts";
import { recordFrom, type StoredRecord, stateWrite } from "../messages/stored.ts";
import { writeAll } from "../writes/write-all.ts";
import { asMade, asPublished, isLiving, queuesOf, type StoredQueue } from "./stored-queue.ts";
import { idsOf } from "../query/ids-of.ts";
import { holdersOf } from "./admit.ts";
import { anew } from "./alarms.ts";

/** How often a row that other processes change is read again. */
const roundsMax = 100;

export async function make(
  store: Store,
  tenant: TenantId,
  names: readonly string[],
  max: number,
): Promise<readonly string[]> {
  const queues = queuesOf(store);
  const ids = names.map((name) => queueId(tenant, name));
  const known = new Set(await idsOf(store.again, queues, { _id: { $in: ids }, ...isLiving }));
  const wanted = names.filter((name) => !known.has(queueId(tenant, name)));
  if (wanted.length === 0) return [];
  const count = await store.again(() => queues.countDocuments({ tenant, ...isLiving }));
  const tooMany = wanted.slice(Math.max(0, max - count));
  if (tooMany.length > 0) return tooMany;
  const now = store.clock.now();
  await writeAll(
    store.again,
    queues,
    wanted.flatMap((name) => making(tenant, name, now)),
  );
  return [];
}

function making(
  tenant: TenantId,
  name: string,
  now: number,
): readonly AnyBulkWriteOperation<StoredQueue>[] {
  const _id = queueId(tenant, name);
  const $setOnInsert = { ...asMade(tenant, _id), ...asPublished(now), entries: 0 };
  return [
    anew(_id, now),
    { updateOne: { filter: { _id }, update: { $setOnInsert }, upsert: true } },
  ];
}

export async function put(store: Store, change: QueueChange, max: number): Promise<Changed> {
  const { tenant, name, ...settings } = change;
  const _id = queueId(tenant, name);
  for (let round = 0; round < roundsMax; round++) {
    if ((await make(store, tenant, [name], max)).length > 0) return "full";
    const now = store.clock.now();
    const update = {
      $set: { ...settings, updatedAt: now, wakeAt: now },
      $inc: { entries: 1, turnsVersion: 1 },
    };
    const { matchedCount } = await store.again(() =>
      queuesOf(store).updateOne({ _id, ...isLiving }, update),
    );
    if (matchedCount === 1) return { takenBack: await takeBack(store, _id) };
  }
  throw new Error(`${_id} is made and deleted too often to be changed`);
}

export async function resume(store: Store, tenant: TenantId, name: string): Promise<void> {
  const now = store.clock.now();
  const filter = { _id: queueId(tenant, name), paused: true, ...isLiving };
  const update = {
    $set: { paused: false, updatedAt: now, wakeAt: now },
    $inc: { entries: 1, turnsVersion: 1 },
  };
  await store.again(() => queuesOf(store).updateOne(filter, update));
}

/**
 * Takes the turns of a paused queue back from messages without an attempt. The records come first: a turn is never
 * taken from a message that may run.
 */
async function takeBack(store: Store, _id: QueueId): Promise<readonly TakenBack[]> {
  const row = await store.again(() => queuesOf(store).findOne({ _id }));
  if (!row?.paused || row.turns.length === 0) return [];
  const taken = new Map<MessageId, TakenBack>();
  let queued: readonly MessageId[] = [];
  for (let round = 0; round < roundsMax; round++) {
    const holders = await holdersOf(store, row.turns);
    queued = holders.filter(({ state }) => state === "queued").map((stored) => stored._id);
    // Raising the epoch of a queued record, once, fences a promotion that was planned before the pause.
    const open = holders.filter(({ state }) => round === 0 || state !== "queued");
    const untried = open.filter((stored) => mayTakeBack(recordFrom(stored)));
    if (untried.length === 0) break;
    for (const { _id: id, lane } of untried)
      if (lane !== undefined) taken.set(id, { id, flow: lane });
    await writeAll(store.again, store.messages, untried.map(queueAgain(store)));
  }
  const gone = new Set(queued);
  const turns = row.turns.filter((id) => !gone.has(id));
  const update = { $set: { turns }, $inc: { turnsVersion: 1 } };
  // A resume may have given turns to these messages again meanwhile. Then those turns stay.
  await store.again(() =>
    queuesOf(store).updateOne({ _id, turnsVersion: row.turnsVersion }, update),
  );
  return [...taken.values()].filter(({ id }) => gone.has(id));
}

const queueAgain =
  ({ clock }: Store) =>
  (stored: StoredRecord): AnyBulkWriteOperation<StoredRecord> => {
    const { _id, epoch, state, queue } = stored;
    if (queue === undefined) throw new Error(`${_id} has a turn and no queue`);
    const { $set, $unset } = stateWrite({ kind: "queued", queue }, undefined, clock.now());
    const update = { $set: { ...$set, epoch: takenBackEpoch(stored) }, $unset };
    return { updateOne: { filter: { _id, epoch, state }, update } };
  };

/**
 * Deletes the queue. Writes the mark first, with all messages that had a turn, and cancels these before it resolves,
 * whichever process was about to move them.
 */
export async function end(
  store: Store,
  tenant: TenantId,
  name: string,
): Promise<readonly Canceled[]> {
  const queues = queuesOf(store);
  const _id = queueId(tenant, name);
  for (let round = 0; round < roundsMax; round++) {
    const row = await store.again(() => queues.findOne({ _id }));
    if (!row) return [];
    // Also set by an earlier try whose reply was lost.
    if (row.endedAt !== undefined) return cancelHolders(store, tenant, row.endedTurns);
    const { turns, turnsVersion, place } = row;
    const now = store.clock.now();
    const update = {
      $set: {
        endedAt: now,
        purgeUpTo: place ?? 0,
        paused: false,
        turns: [],
        endedTurns: turns,
        wakeAt: now,
      },
      $inc: { entries: 1, turnsVersion: 1 },
    };
    const standing = { _id, turnsVersion, ...isLiving };
    // A message that joined since the row was read would be above the mark, in a deleted queue.
    const filter =
      place === undefined ? { ...standing, place: { $exists: false } } : { ...standing, place };
    const { matchedCount } = await store.again(() => queues.updateOne(filter, update));
    // The row is not read again, since the queue may have been made anew.
    if (matchedCount === 1) return cancelHolders(store, tenant, turns);
  }
  throw new Error(`${_id} changes too fast to be deleted`);
}

const cancelHolders = (
  store: Store,
  tenant: TenantId,
  holders: readonly MessageId[] = [],
): Promise<readonly Canceled[]> =>
  holders.length > 0 ? createCancel(store)(tenant, holders) : Promise.resolve([]);
