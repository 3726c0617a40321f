/** Rings alarms: finds due ones, moves them ahead if they have not moved, and returns them. Ringing twice does no harm. */
import {
  type AlarmSource,
  alarmSources,
  flowOf,
  isFinished,
  limits,
  type MessageRecord,
  type MessageState,
  ring,
  type Ringing,
  recordSources,
  type RecordSource,
  type RowSource,
  rowSources,
  sourceOf,
} from "@posthaste/domain";
import { type Alarms, type Rung, watchSetBack } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { ringBulkActions } from "../bulk-actions/stored.ts";
import { ringFanOuts } from "../fan-outs/fan-outs.ts";
import { enterQueues, type QueueEntry, ringQueues } from "../queues/alarms.ts";
import { redeliver, ringRuns } from "../runs/alarms.ts";
import { type StoreWithRuns } from "../runs/store.ts";
import { ringSchedules } from "../schedules/stored.ts";
import { moveAlarmsUp } from "./clock-set-back.ts";
import { enter, type Entry, ringLanes } from "../lanes/lanes.ts";
import { type Reading } from "./read.ts";
import { inOneReply, type Store } from "./store.ts";
import {
  answerBytesOf,
  alarmFields,
  alarmIn,
  hintFrom,
  isKnownFormat,
  recordFrom,
  type StoredRecord,
  stateWrite,
} from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";
import { idsOf } from "../query/ids-of.ts";

type RungRecord = {
  readonly stored: StoredRecord;
  readonly record: MessageRecord;
  readonly rung: Ringing;
  readonly source: RecordSource;
};

export function createRing(store: StoreWithRuns, reading: Reading): Alarms["ring"] {
  const setBack = watchSetBack(store.clock);
  /** Shards whose alarms were checked since the clock was last set back. */
  const checked = new Set<number>();
  return async (shards, limitOfEach, sources = alarmSources) => {
    const now = store.clock.now();
    const setAheadMs = store.clock.setAheadMs();
    const setBackMs = setBack();
    if (setBackMs > 0) checked.clear();
    const fresh = shards.filter((shard) => !checked.has(shard));
    if (fresh.length > 0) await moveAlarmsUp(store, fresh, { now, setBackMs });
    for (const shard of fresh) checked.add(shard);
    const isAsked = (source: AlarmSource): boolean => sources.includes(source);
    const due = await Promise.all(
      recordSources
        .filter(isAsked)
        .map((source) => findDue(store, shards, source, now, limitOfEach)),
    );
    const rung = due.flatMap(({ found }) => found).map((stored) => rungAt(stored, now, setAheadMs));
    const ringing = affordable(rung);
    const move = (some: readonly RungRecord[]) =>
      writeAll(
        store.again,
        store.messages,
        some.flatMap((each) => moving(each, now)),
      );
    // A lane's row is written after a record is in its line, and before the record's own alarm is removed, so a crash between the two loses nothing.
    await move(ringing.filter((each) => !waits(each)));
    await enter(store, ringing.filter(getsIntoLine).flatMap(entryOf));
    await enterQueues(store, ringing.flatMap(queueEntryOf));
    await move(ringing.filter(waits));
    const ours = await withoutLost(store, ringing.filter(needsBody));
    const whole = await reading.withBodies(
      ours.map(({ stored }) => stored),
      recordFrom,
    );
    const onlyFacts = ringing.filter(({ source }) => source === "fact");
    const [redelivered, others] = await Promise.all([
      isAsked("record") ? redeliver(store, shards, now, limitOfEach) : [],
      Promise.all(
        rowSources.filter(isAsked).map(async (source) => ({
          source,
          found: await ringRows[source](store, shards, now, limitOfEach),
        })),
      ),
    ]);
    const isFull = ({ found, isCut = false }: Found): boolean =>
      isCut || found.length >= limitOfEach;
    const withOutbox = [
      ...whole.filter(({ outbox }) => outbox.length > 0),
      ...onlyFacts.map(({ stored }) => recordFrom(stored)),
    ];
    return {
      rung: [
        ...ringing.flatMap(hinted),
        ...ringing.flatMap(named),
        ...ringing.flatMap(({ rung: { next } }) => laneAt(next)),
        ...redelivered.flat().flatMap(({ state }) => laneAt(state)),
        ...withOutbox.map((record): Rung => ({ kind: "followUp", record })),
        ...others.flatMap(({ found }) => found),
      ],
      more: new Set([
        ...[...due.filter(isFull), ...others.filter(isFull)].map(({ source }) => source),
        ...rung.slice(ringing.length).map(({ source }) => source),
        ...(redelivered.length >= limitOfEach ? (["record"] as const) : []),
      ]),
    };
  };
}

type RingDue = (
  store: StoreWithRuns,
  shards: readonly number[],
  now: number,
  limit: number,
) => Promise<readonly Rung[]>;

const ringRows: { readonly [Source in RowSource]: RingDue } = {
  flow: ringLanes,
  queue: ringQueues,
  fanOut: ringFanOuts,
  schedule: ringSchedules,
  bulkAction: ringBulkActions,
  run: ringRuns,
};

const named = ({ record: { message }, rung, source }: RungRecord): readonly Rung[] =>
  rung.followUp && source === "record"
    ? [{ kind: "outbox", id: message.id, tenant: message.tenant }]
    : [];

const hinted = ({ stored, rung }: RungRecord): readonly Rung[] =>
  rung.then === "hint" ? [{ kind: "hint", hint: hintFrom(stored) }] : [];

/** Returns the lane whose line the record has joined. */
function laneAt(state: MessageState): readonly Rung[] {
  if (state.kind === "waiting") return [{ kind: "lane", lane: state.flow }];
  return state.kind === "queued" ? [{ kind: "lane", lane: state.queue }] : [];
}

function rungAt(stored: StoredRecord, now: number, setAheadMs: number): RungRecord {
  const record = recordFrom(stored);
  const rung = ring(record, now, setAheadMs);
  return { stored, record, rung, source: sourceOf(rung.next, record.outbox) };
}

/** `isCut`: the answers in the outboxes filled one reading; the rest rings in the next. */
type Found<T = unknown> = {
  readonly source: AlarmSource;
  readonly found: readonly T[];
  readonly isCut?: boolean;
};

const findDue = (
  { again, messages }: Store,
  shards: readonly number[],
  source: RecordSource,
  now: number,
  limit: number,
): Promise<Found<StoredRecord>> => {
  const field = alarmFields[source];
  const isDue = { [field]: { $lte: now, $exists: true } };
  return again(async () => {
    const cursor = messages
      .find(
        { shard: { $in: [...shards] }, ...isDue, ...isKnownFormat },
        { ...inOneReply, projection: { body: 0 } },
      )
      .sort({ [field]: 1 })
      .limit(limit);
    const found: StoredRecord[] = [];
    let bytes = 0;
    for await (const stored of cursor) {
      if (bytes >= limits.readBytesMax) return { source, found, isCut: true };
      found.push(stored);
      bytes += answerBytesOf(stored);
    }
    return { source, found };
  });
};

function affordable(ringing: readonly RungRecord[]): readonly RungRecord[] {
  let bytes = 0;
  const tooMuch = ringing.findIndex((each) => {
    const isFull = bytes >= limits.readBytesMax;
    bytes += answerBytesOf(each.stored) + (needsBody(each) ? each.stored.bodyBytes : 0);
    return isFull;
  });
  return tooMuch < 0 ? ringing : ringing.slice(0, tooMuch);
}

/** Only follow-ups need the body: facts hold none, and hints name an unfinished record. */
const needsBody = ({ source }: RungRecord): boolean => source === "followUp";

/** Drops follow-ups whose alarm another ringer has moved: that ringer works them. */
async function withoutLost(
  { again, messages }: Store,
  ringing: readonly RungRecord[],
): Promise<readonly RungRecord[]> {
  if (ringing.length === 0) return ringing;
  const filter = {
    _id: { $in: ringing.map(({ stored }) => stored._id) },
    [alarmFields.followUp]: { $in: [...new Set(ringing.map(({ rung }) => rung.wakeAt))] },
  };
  const won = new Set(await idsOf(again, messages, filter));
  return ringing.filter(({ stored }) => won.has(stored._id));
}

/** Reports whether the record was in line when its own alarm rang: its lane may have been put to rest before it joined (stored.ts). */
const waits = ({ stored }: RungRecord): boolean =>
  stored.state === "waiting" || stored.state === "queued";
const getsIntoLine = ({ rung }: RungRecord): boolean => rung.next.kind === "waiting";

/**
 * Returns the write that moves an alarm, on condition of the state and alarm that were read, so an earlier write of
 * another process stands.
 */
function moving(
  { stored, record, rung, source }: RungRecord,
  now: number,
): readonly AnyBulkWriteOperation<StoredRecord>[] {
  const alarm = alarmIn(stored);
  if (!alarm) return [];
  const { _id, epoch, state } = stored;
  // A renewal may come between without moving the alarm. So if a live state stays, only the alarm is written.
  const stays = rung.next === record.state && !isFinished(record.state);
  const update = stays ? alarmWrite(rung.wakeAt) : stateWrite(rung.next, rung.wakeAt, now, source);
  return [{ updateOne: { filter: { _id, epoch, state, [alarm.field]: alarm.at }, update } }];
}

const alarmWrite = (wakeAt: number | undefined) =>
  wakeAt === undefined ? { $unset: { wakeAt: "" as const } } : { $set: { wakeAt } };

const entryOf = ({ stored, record }: RungRecord): readonly Entry[] => {
  const flow = flowOf(record.message);
  return flow ? [{ flow, wakes: true, place: stored.place, setsLimits: false }] : [];
};

const queueEntryOf = ({ stored, record }: RungRecord): readonly QueueEntry[] =>
  stored.state === "queued"
    ? [
        {
          message: record.message,
          place: stored.queuePlace,
          isReserved: record.message.bodyOf !== undefined,
        },
      ]
    : [];
