/**
 * Admits messages of a queue, over two kinds of documents (docs/design/queues#turns): the row says which messages
 * have a turn, the records say what became of them.
 *
 * (1) turns are planned from a reading of row, records and line, and written if `turnsVersion` has not changed since.
 *     If two processes look at once, or one looked before a pause, only one gives any.
 * (2) the records are moved after that, each on condition of the epoch that was read before. A pause and a deletion
 *     raise turnsVersion and epochs, so no promotion that was planned before them takes effect after them.
 * (3) a process that dies between the two leaves a turn whose record is still queued: the next look moves it.
 */
import {
  flowOf,
  freeTurns,
  type InState,
  isDone,
  isIn,
  limits,
  liveKinds,
  mayClaimWithTurn,
  type MessageId,
  type MessageRecord,
  type Owner,
  type QueueId,
  takeTurn,
  waitsOf,
} from "@posthaste/domain";
import { type Admitted } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { firstUnmade } from "../fan-outs/fan-outs.ts";
import { enter } from "../lanes/lanes.ts";
import { type Reading } from "../messages/read.ts";
import { inOneReply, type Store } from "../messages/store.ts";
import {
  hintFrom,
  isKnownFormat,
  recordFrom,
  type StoredRecord,
  stateWrite,
  withoutBodies,
} from "../messages/stored.ts";
import { writeAll } from "../writes/write-all.ts";
import { queuesOf, type StoredQueue } from "./stored-queue.ts";
import { idsOf } from "../query/ids-of.ts";

/** `isFull`: the look left no turn to give. */
type Looked = { readonly admitted: Admitted; readonly isFull: boolean };

export async function admitOne(
  store: Store,
  reading: Reading,
  _id: QueueId,
  owner: Owner | undefined,
): Promise<Looked | undefined> {
  const row = await store.again(() => queuesOf(store).findOne({ _id, ...isKnownFormat }));
  if (!row) return undefined;
  const room = freeTurns(row, 0);
  // Read before the line: a record that is in line by then with a higher place came after children that are not made yet.
  const unmade = row.hasFanOut ? await firstUnmade(store, _id, row.purgeUpTo ?? 0) : undefined;
  const [holders, line, ended] = await Promise.all([
    room > 0 ? holdersOf(store, row.turns) : [],
    room > 0 ? lineOf(store, row, { room, end: unmade, whole: owner !== undefined }) : [],
    purgedOf(store, row),
  ]);
  const standing = new Map(holders.map((stored) => [stored._id, recordFrom(stored)]));
  const now = store.clock.now();
  const done = room > 0 ? row.turns.filter((id) => isDone(standing.get(id), now)) : [];
  const calledBack = await callbacksOf(
    store,
    done.filter((id) => mayCallBack(standing.get(id))),
  );
  const over = new Set(done.filter((id) => !calledBack.has(id)));
  const plan = planOf(row, { holders, over, line });
  const found = {
    queue: _id,
    tenant: row.tenant,
    given: 0,
    hints: [],
    flows: [],
    ended,
    more: true,
  };
  const waits = plan.turns.length > 0 || ended.length > 0 || unmade !== undefined;
  const [stands, whole] = await Promise.all([
    plan.changes
      ? write(store, row, { turns: plan.turns, waits, unmade })
      : rest(store, row, waits),
    owner === undefined ? undefined : wholeOf(reading, plan.moves),
  ]);
  if (stands === "overtaken") return { admitted: found, isFull: true };
  const moved = plan.moves.map((stored) => movedAt(stored, store.clock.now(), whole, owner));
  const claimed = await move(store, moved);
  // In a full queue no new message can be given a turn. The alarm stays set, and rings again.
  const isFull = plan.turns.length >= room;
  const more = plan.isCut || (stands === "awake" && !isFull);
  const admitted = { ...found, ...told(moved), ...(claimed && { claimed }), more };
  return { admitted, isFull };
}

type Found = {
  readonly holders: readonly StoredRecord[];
  readonly over: ReadonlySet<MessageId>;
  readonly line: readonly StoredRecord[];
};

type Plan = {
  readonly turns: readonly MessageId[];
  /** Records that have a turn and are still queued. */
  readonly moves: readonly StoredRecord[];
  readonly changes: boolean;
  /** Whether more turns could be given than one look gives. */
  readonly isCut: boolean;
};

/** Reports whether the message may have callbacks, also if its record was removed. */
const mayCallBack = (record: MessageRecord | undefined): boolean =>
  record === undefined ||
  record.message.policy.callback !== undefined ||
  record.message.policy.failureCallback !== undefined;

function planOf(row: StoredQueue, { holders, over, line }: Found): Plan {
  if (freeTurns(row, 0) === 0) return { turns: row.turns, moves: [], changes: false, isCut: false };
  const kept = row.turns.filter((id) => !over.has(id));
  const having = new Set(kept);
  const free = freeTurns(row, kept.length);
  const given = line.filter(({ _id }) => !having.has(_id)).slice(0, free);
  const interrupted = holders.filter(({ _id, state }) => state === "queued" && having.has(_id));
  return {
    turns: [...kept, ...given.map(({ _id }) => _id)],
    moves: [...interrupted, ...given],
    changes: given.length > 0 || interrupted.length > 0 || kept.length < row.turns.length,
    isCut: given.length < free && line.length >= limits.admitBatchMax,
  };
}

const none: ReadonlySet<MessageId> = new Set();

export async function holdersOf(
  { again, messages }: Store,
  turns: readonly MessageId[],
): Promise<readonly StoredRecord[]> {
  if (turns.length === 0) return [];
  const filter = { _id: { $in: [...turns] }, state: { $exists: true } };
  return again(() => messages.find(filter, { ...inOneReply, projection: withoutBodies }).toArray());
}

/**
 * Resolves to the messages of `turns` that have a live callback. Read after the outboxes: a callback is inserted
 * before its item leaves the outbox, so none is missed between the two.
 */
async function callbacksOf(
  { again, messages }: Store,
  turns: readonly MessageId[],
): Promise<ReadonlySet<MessageId>> {
  if (turns.length === 0) return none;
  const filter = { "turnOf.id": { $in: [...turns] }, state: { $in: [...liveKinds] } };
  const found = await again(() =>
    messages.find(filter, { ...inOneReply, projection: { turnOf: 1 } }).toArray(),
  );
  return new Set(found.flatMap(({ turnOf }) => turnOf?.id ?? []));
}

type Stretch = {
  readonly room: number;
  /** The place before which the line ends. */
  readonly end: number | undefined;
  /** Whether to read the first record with its body, since it may be claimed. */
  readonly whole: boolean;
};

/** Reads as many records as could get a turn if all turns were over, and as many again as have a turn. */
const lineOf = (
  { again, messages }: Store,
  { _id: queue, purgeUpTo = 0, turns }: StoredQueue,
  { room, end, whole }: Stretch,
): Promise<readonly StoredRecord[]> => {
  const queuePlace = { $gt: purgeUpTo, ...(end !== undefined && { $lt: end }) };
  const isShort = whole && room === 1 && turns.length <= 1;
  return again(() =>
    messages
      .find(
        { queue, state: "queued", queuePlace, ...isKnownFormat },
        { ...inOneReply, ...(!isShort && { projection: withoutBodies }) },
      )
      .sort({ queue: 1, state: 1, queuePlace: 1, _id: 1 })
      .limit(Math.min(room, limits.admitBatchMax) + turns.length)
      .toArray(),
  );
};

/** Resolves to the messages that a deletion of the queue has left, including any that a slow publish inserted afterwards. */
async function purgedOf(
  { again, messages }: Store,
  { _id: queue, purgeUpTo }: StoredQueue,
): Promise<readonly MessageId[]> {
  if (purgeUpTo === undefined) return [];
  const filter = { queue, state: { $in: [...liveKinds] }, queuePlace: { $lte: purgeUpTo } };
  return idsOf(again, messages, filter, { limit: limits.admitBatchMax });
}

/** `awake`: the alarm was set since the row was read, and stays. `overtaken`: another write came first. */
type Written = "resting" | "awake" | "overtaken";

type Given = {
  readonly turns: readonly MessageId[];
  /** Whether anything in the queue waits for another look. */
  readonly waits: boolean;
  readonly unmade: number | undefined;
};

/**
 * Writes the turns, and sets the alarm if `entries` has not changed. Also resolves to `overtaken` if the reply to a
 * write that held was lost; the next look repairs that.
 */
async function write(
  store: Store,
  { _id, entries, given = [], hasFanOut, turnsVersion }: StoredQueue,
  { turns, waits, unmade }: Given,
): Promise<Written> {
  const now = store.clock.now();
  const ahead = now + limits.ringAheadMs;
  const times = new Map(given.map(({ id, at }) => [id, at]));
  const isAsRead = { $eq: ["$entries", entries] };
  const update = [
    {
      $set: {
        turns: { $literal: turns },
        given: { $literal: turns.map((id) => ({ id, at: times.get(id) ?? now })) },
        turnsVersion: { $add: ["$turnsVersion", 1] },
        entries: { $add: ["$entries", 1] },
        wakeAt: { $cond: [isAsRead, waits ? ahead : "$$REMOVE", { $min: ["$wakeAt", ahead] }] },
      },
    },
    ...(hasFanOut === true && unmade === undefined ? [{ $unset: "hasFanOut" }] : []),
  ];
  const before = await store.again(() =>
    queuesOf(store).findOneAndUpdate({ _id, turnsVersion }, update, { projection: { entries: 1 } }),
  );
  if (!before) return "overtaken";
  return before.entries === entries ? "resting" : "awake";
}

/**
 * Sets the alarm on condition of `entries`: an arrival, and another look that gave a turn, keep the alarm that they
 * have set since the row was read.
 */
async function rest(
  store: Store,
  { _id, entries, wakeAt: stood }: StoredQueue,
  waits: boolean,
): Promise<Written> {
  if (!waits && stood === undefined) return "resting";
  const wakeAt = store.clock.now() + limits.ringAheadMs;
  const update = waits ? { $set: { wakeAt } } : { $unset: { wakeAt: "" as const } };
  const { matchedCount } = await store.again(() =>
    queuesOf(store).updateOne({ _id, entries }, update),
  );
  return matchedCount === 1 ? "resting" : "awake";
}

/** Reads the first message with its body, if it may be claimed with its turn. */
async function wholeOf(
  { withBodies }: Reading,
  [first]: readonly StoredRecord[],
): Promise<MessageRecord | undefined> {
  if (!first || !mayClaimWithTurn(first.bodyBytes)) return undefined;
  const [whole] = await withBodies([first], recordFrom);
  return whole;
}

type Moved = {
  readonly stored: StoredRecord;
  readonly taken: ReturnType<typeof takeTurn>;
};

function movedAt(
  stored: StoredRecord,
  now: number,
  whole: MessageRecord | undefined,
  owner: Owner | undefined,
): Moved {
  const isWhole = whole?.message.id === stored._id;
  const record = isWhole ? whole : recordFrom(stored);
  if (!isIn(record, "queued")) throw new Error("unreachable: the line holds what is queued");
  return { stored, taken: takeTurn(record, now, isWhole ? owner : undefined) };
}

/** Moves the records, and resolves to the one that was claimed. The row of the flow lane is written after its record is in line. */
async function move(
  store: Store,
  moved: readonly Moved[],
): Promise<InState<"claimed"> | undefined> {
  const now = store.clock.now();
  const claimedBy = store.token();
  const operations = moved.map(({ stored, taken }): AnyBulkWriteOperation<StoredRecord> => {
    const { $set, $unset } = stateWrite(taken.state, taken.wakeAt, now);
    const { epoch } = taken;
    const claim = epoch > stored.epoch ? { epoch, claimedBy } : {};
    const filter = { _id: stored._id, state: "queued", epoch: stored.epoch } as const;
    return { updateOne: { filter, update: { $set: { ...$set, ...claim }, $unset } } };
  });
  const { matched } = await writeAll(store.again, store.messages, operations);
  const entries = moved.flatMap(({ stored, taken: { message, state } }) => {
    const flow = state.kind === "waiting" ? flowOf(message) : undefined;
    return flow ? [{ flow, wakes: true, place: stored.place, setsLimits: false }] : [];
  });
  if (entries.length > 0) await enter(store, entries);
  const claimed = moved.map(({ taken }) => taken).find((taken) => isIn(taken, "claimed"));
  if (!claimed || matched === moved.length) return claimed;
  // Tells a claim that lost to another write from a claim whose reply was lost.
  const ours = { _id: claimed.message.id, state: "claimed", claimedBy } as const;
  return (await idsOf(store.again, store.messages, ours)).length > 0 ? claimed : undefined;
}

const told = (
  moved: readonly Moved[],
): Pick<Admitted, "given" | "hints" | "heldUntil" | "flows"> => ({
  given: moved.length,
  hints: moved
    .filter(({ taken }) => taken.state.kind === "due")
    .map(({ stored }) => hintFrom(stored)),
  ...waitsOf(moved.map(({ taken }) => taken.state)),
});
