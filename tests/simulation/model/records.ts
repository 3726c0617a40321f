/**
 * A record store in memory that does what the port says, and leaves every follow-up to its callers, as a store over a
 * network does. Each call is one step. The checks inspect this store.
 */
import {
  alarmOf,
  cancel,
  claim,
  dropped,
  dueSince,
  type FlowId,
  type FlowLane,
  flowOf,
  flowsSetBy,
  type GroupChunkId,
  isTooFarAhead,
  isClaimable,
  isFinished,
  isForeign,
  isIn,
  isKnownFormat,
  limits,
  matchesLive,
  type MessageId,
  type MessageRecord,
  owesOnlyLog,
  progressOf,
  release,
  sizeOf,
  leaseNow,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import {
  type Canceled,
  type Clock,
  type Hint,
  type Insert,
  type Inserted,
  type RecordPorts,
  type Records,
  watchSetBack,
} from "@posthaste/ports";
import { modelAlarms, ringing } from "./alarms.ts";
import { modelBulkActions } from "./bulk-actions.ts";
import { type ModelFanOuts, modelFanOuts } from "./fan-outs.ts";
import { modelFlowLanes } from "./flow-lanes.ts";
import { modelKeptBodies } from "./kept-bodies.ts";
import { type ModelMessageLog } from "./message-log.ts";
import { type ModelQueues, modelQueues, type QueueHalves } from "./queues.ts";
import { reopened } from "./reopened.ts";
import { modelRows, type Rows } from "./rows.ts";
import { modelRuns } from "./runs.ts";
import { type ScheduleModel } from "./schedules.ts";
import { modelSettling } from "./settling.ts";

export type ModelRecords = {
  readonly ports: RecordPorts;
  readonly inspect: Inspection;
  /** Does what the store does for a process that has it alone and opens it after another one. */
  readonly reopen: () => void;
  /** For a planted bug: removal does not check whether the log has the owed rows. */
  readonly forgetLog: () => void;
  readonly trustSetting: () => void;
  readonly queueHalves: QueueHalves;
};

export type Inspection = {
  readonly records: ReadonlyMap<MessageId, MessageRecord>;
  readonly fanOuts: Pick<ModelFanOuts, "get" | "values">;
  readonly lanes: ReadonlyMap<FlowId, FlowLane>;
  readonly queues: ModelQueues["rows"];
  /** Returns the ids written since the last call, which a check after each step has to read. */
  readonly takeTouched: Rows["takeTouched"];
  readonly waitingIn: (lane: FlowId) => number;
  /** Reports whether a fan-out that is not expanded refers to the chunk. */
  readonly isInUse: (chunk: GroupChunkId) => boolean;
};

export function modelRecords(
  clock: Pick<Clock, "now" | "passedMs" | "setAheadMs">,
  schedules: ScheduleModel,
  log: ModelMessageLog,
): ModelRecords {
  const now = (): number => clock.now();
  let trustsSetting = false;
  const setAheadMs = (): number => (trustsSetting ? 0 : clock.setAheadMs());
  const rows = modelRows(now, (record, before, place) => {
    queues.changed(record);
    lanes.written(record, before, place);
  });
  const { standing, find, change } = rows;
  const lanes = modelFlowLanes(now, rows);
  const queues = modelQueues({
    now,
    all: () => standing.values(),
    find: (id) => standing.get(id),
    change,
    withBody: (record) => withBody(record),
    cancel: (tenant, id) => cancelOne(tenant, id),
    wakeLane: lanes.wake,
    firstUnmade: (queue, after) => fanOuts.firstUnmade(queue, after),
  });
  const fanOuts = modelFanOuts({ now, rows, lanes, queues });
  const bulkActions = modelBulkActions(now);
  const keptBodies = modelKeptBodies();
  const settling = modelSettling(rows, log, keptBodies, now);
  let forgetsLog = false;

  const withBody = <R extends MessageRecord>(record: R): R => {
    const { bodyOf, id } = record.message;
    if (bodyOf === undefined) return record;
    const body = fanOuts.get(bodyOf)?.body;
    if (!body) throw new Error(`the body of ${id} went with its fan-out`);
    return { ...record, message: { ...record.message, body } };
  };

  const insertOne = ({ record, deduplication }: Insert): Inserted => {
    const { id, bodyOf, createdAt, run, tenant } = record.message;
    if (standing.has(id) || rows.isBuried(id)) return "known";
    for (const flow of flowsSetBy(record.message)) lanes.configure(flow);
    const flow = flowOf(record.message);
    if (flow) lanes.join(flow);
    queues.join(record.message, fanOuts.queuePlaceOf(record.message));
    rows.add(bodyOf === undefined ? record : withoutBody(record), fanOuts.placeOf(record.message));
    if (deduplication) rows.mayBeRepeated(id);
    if (bodyOf !== undefined) fanOuts.childMade(bodyOf);
    if (!run) log.countCreated(tenant, createdAt);
    return "inserted";
  };

  const cancelOne = (tenant: string, id: MessageId): Canceled => {
    const record = find(id);
    if (!record || record.message.tenant !== tenant || isFinished(record.state))
      return { kind: "unknown" };
    if (record.message.run) return { kind: "unknown" };
    const { next, epoch, wakeAt, fact } = cancel({ ...record, state: record.state }, now());
    const { message } = withoutBody(record);
    const was = record.state.kind;
    if (owesOnlyLog(record, fact)) {
      change(id, { ...record, state: next, epoch, wakeAt: undefined });
      settling.owe(id);
      return { kind: "canceled", message, was, left: [], owed: fact };
    }
    change(id, { ...record, state: next, epoch, wakeAt, outbox: [...record.outbox, fact] });
    return { kind: "canceled", message, was, left: [fact] };
  };

  const removeOne = ({ message: { id, bodyOf } }: MessageRecord): void => {
    if (bodyOf !== undefined) fanOuts.childGone(bodyOf);
    rows.remove(id);
  };

  const records: Records = {
    insert: async (inserts) => inserts.map(insertOne),
    claim: async (ids, owner) =>
      ids.flatMap((id) => {
        const record = standing.get(id);
        if (!record || !isClaimable(record, now(), setAheadMs())) return [];
        const claimed = claim(record, owner, now());
        change(id, claimed);
        return [withBody(claimed)];
      }),
    pull: async (tenant, limit, exceptOrigins) => {
      const due: Hint[] = [];
      for (const record of standing.values()) {
        if (due.length >= limit) break;
        if (
          record.message.tenant !== tenant ||
          record.state.kind !== "due" ||
          !isClaimable(record, now(), setAheadMs())
        )
          continue;
        const hint = hintOf(record);
        if (!exceptOrigins.includes(hint.origin)) due.push(hint);
      }
      return due;
    },
    renew: async (claims) =>
      claims.flatMap(({ id, epoch, begins }) => {
        const record = standing.get(id);
        if (
          !record ||
          record.epoch !== epoch ||
          !isIn(record, "claimed") ||
          record.state.leaseUntil <= leaseNow(now(), setAheadMs())
        )
          return [id];
        const leaseUntil = now() + limits.leaseMs;
        // docs/design/record#the-outbox: a record with an outbox keeps its alarm however long the attempt runs.
        const wakeAt =
          record.outbox.length > 0 ? Math.min(record.wakeAt ?? Infinity, leaseUntil) : leaseUntil;
        const { kind, owner } = record.state;
        const state = { kind, owner, leaseUntil, ...(!begins && { renewed: true as const }) };
        change(id, { ...record, state, wakeAt });
        return [];
      }),
    settle: async (settlements) => settlements.map(settling.settle),
    clear: async (items) => {
      for (const { id, attempt, item } of items) {
        const record = standing.get(id);
        if (!record) continue;
        const outbox = record.outbox.filter(
          ({ attempt: of, kind }) => of !== attempt || kind !== item,
        );
        const quiet =
          outbox.length === 0 &&
          (isFinished(record.state) ||
            (record.state.kind === "waiting" && !isForeign(record.message, record.state.flow)));
        change(id, { ...record, outbox, wakeAt: quiet ? undefined : record.wakeAt });
      }
    },
    cancel: async (tenant, ids) => ids.map((id) => cancelOne(tenant, id)),
    drop: async (tenant, ids) =>
      ids.flatMap((id) => {
        const record = find(id);
        const drop = record?.message.tenant === tenant ? dropped(record, now()) : undefined;
        if (!record || !drop) return [];
        const { epoch, next } = drop;
        const wakeAt = alarmOf(next, record.outbox.length > 0, now());
        change(id, { ...record, state: next, epoch, wakeAt });
        return [withoutBody(record).message];
      }),
    release: async (tenant, id) => {
      const record = find(id);
      if (!record || record.message.tenant !== tenant) return { kind: "unknown" };
      const released = release(record, now());
      if (released.kind !== "released") return { kind: released.kind };
      change(id, { ...record, state: released.next, wakeAt: released.wakeAt });
      return { kind: "released", shard: record.message.shard };
    },
    matching: async (tenant, filter, { after = "", upTo, foundMax, lookedMax }) => {
      const all = [...standing.values()].toSorted((a, b) => (a.message.id < b.message.id ? -1 : 1));
      const ahead = all.filter(({ message: { id } }) => id > after && id < upTo.id);
      const ids: MessageId[] = [];
      let next = after;
      for (const { message, state } of ahead.slice(0, lookedMax)) {
        if (ids.length === foundMax) return { ids, next };
        const isFound =
          message.tenant === tenant &&
          isKnownFormat(message) &&
          !isFinished(state) &&
          message.createdAt <= upTo.at &&
          matchesLive(filter, message);
        if (isFound) ids.push(message.id);
        next = message.id;
      }
      return ahead.length > lookedMax ? { ids, next } : { ids };
    },
    get: async (tenant, ids) =>
      ids.map((id) => {
        const record = find(id);
        return record?.message.tenant === tenant ? withBody(record) : undefined;
      }),
    getSome: async (tenant, ids) => {
      const records: MessageRecord[] = [];
      let bytes = 0;
      for (const [n, id] of ids.entries()) {
        if (bytes >= limits.readBytesMax) return { records, left: ids.slice(n) };
        const record = find(id);
        if (record?.message.tenant !== tenant) continue;
        records.push(withBody(record));
        bytes += sizeOf(withBody(record));
      }
      return { records, left: [] };
    },
    progress: async (tenant, ids) =>
      ids.map((id) => {
        const record = find(id);
        return record?.message.tenant === tenant ? progressOf(record) : undefined;
      }),
    removeFinished: async (shards, endedBefore, limit, keeps = () => true) => {
      const mine = new Set(shards);
      const gone = [...standing.values()]
        .filter(
          (record) =>
            mine.has(record.message.shard) && removable(record, { endedBefore, now: now() }),
        )
        .slice(0, limit);
      for (const record of gone) {
        if (!forgetsLog) settling.tellOwed(record);
        if (keeps(record.message.tenant)) keptBodies.keep(withBody(record));
        else keptBodies.forget(record.message.id);
        removeOne(record);
      }
      lanes.sweep(mine);
      queues.sweep();
      return gone.length + fanOuts.removeEnded(mine, endedBefore);
    },
    dueSince: async (tenant) => {
      const times = [...standing.values()].flatMap(({ message, state, wakeAt }) =>
        message.tenant === tenant && state.kind === "due" && state.grantUntil === undefined
          ? dueSince(state.hints, wakeAt ?? now())
          : [],
      );
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    backlog: async (tenant) =>
      [...standing.values()].filter(
        ({ message, state }) => message.tenant === tenant && !isFinished(state),
      ).length,
  };
  const runs = modelRuns(now, records);
  const alarms = modelAlarms({
    setAheadMs,
    setBackMs: watchSetBack(clock),
    ...{ now, rows, lanes, queues, withBody, withoutBody },
    others: {
      flow: ringing(lanes, ({ id: lane }) => ({ kind: "lane", lane })),
      queue: ringing(queues, ({ id: lane }) => ({ kind: "lane", lane })),
      fanOut: ringing(fanOuts, ({ id, tenant }) => ({ kind: "fanOut", id, tenant })),
      schedule: ringing(schedules, (schedule) => ({ kind: "schedule", schedule })),
      bulkAction: ringing(bulkActions, (action) => ({ kind: "bulkAction", action })),
      run: ringing(runs, (run) => ({ kind: "run", run })),
    },
  });

  return {
    ports: {
      keptBodies: keptBodies.port,
      ...{ records, alarms, flowLanes: lanes.port, fanOuts: fanOuts.port },
      queues: queues.port,
      bulkActions: bulkActions.port,
      runs: runs.port,
      runLog: runs.log,
    },
    inspect: {
      records: standing,
      fanOuts,
      lanes: lanes.lanes,
      queues: queues.rows,
      takeTouched: rows.takeTouched,
      waitingIn: lanes.waitingIn,
      isInUse: fanOuts.isInUse,
    },
    reopen: () => {
      fanOuts.reopen();
      for (const record of [...standing.values()])
        if (isKnownFormat(record.message)) change(record.message.id, reopened(record, now()));
      lanes.reopen();
      queues.reopen();
      schedules.reopen();
      bulkActions.reopen();
      runs.reopen();
    },
    forgetLog: () => void (forgetsLog = true),
    trustSetting: () => void (trustsSetting = true),
    queueHalves: queues.halves,
  };
}

const withoutBody = (record: MessageRecord): MessageRecord => ({
  ...record,
  message: { ...record.message, body: new Uint8Array() },
});

const removable = (
  { state, outbox, message }: MessageRecord,
  { endedBefore, now }: { readonly endedBefore: number; readonly now: number },
): boolean =>
  isKnownFormat(message) &&
  isFinished(state) &&
  (state.endedAt < endedBefore || isTooFarAhead(state.endedAt, 0, now)) &&
  outbox.length === 0;
