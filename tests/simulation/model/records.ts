/**
 * A record store in memory that does what the port says, and leaves every follow-up to its callers, as a store over a
 * network does. Each call is one step: it is the reference that the checks can look into.
 */
import {
  dueSince,
  advanceTo,
  type AttemptFact,
  owedFact,
  owedToLog,
  type FanOut,
  flowsOf,
  isExpanding,
  parentOf,
  alarmSources,
  areSameLimits,
  alarmOf,
  cancel,
  dropped,
  claim,
  type Flow,
  type FlowId,
  type FlowLane,
  flowOf,
  flowsSetBy,
  type GroupChunkId,
  isClaimable,
  isDerived,
  isFinished,
  isForeign,
  isForgettable,
  isIn,
  isUnderstood,
  limits,
  limitsPublished,
  matchesLive,
  type Message,
  type MessageId,
  type MessageRecord,
  noPins,
  type QueueId,
  pin,
  progressOf,
  promote,
  recordSources,
  type RowSource,
  rowSources,
  release,
  type RecordSource,
  ring,
  type Settlement,
  sizeOf,
  sourceOf,
  unpin,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import {
  type Alarms,
  type Canceled,
  type FanOuts,
  type FlowLanes,
  type Hint,
  type Inserted,
  type RecordPorts,
  type Records,
  type Rung,
  type Settled,
} from "@posthaste/ports";
import { type ModelQueues, modelQueues, type QueueHalves } from "./queues.ts";
import { modelBulkActions } from "./bulk-actions.ts";
import { type ModelMessageLog } from "./message-log.ts";
import { type ScheduleModel } from "./schedules.ts";
import { reopened } from "./reopened.ts";
import { modelRuns } from "./runs.ts";

export type ModelRecords = {
  readonly ports: RecordPorts;
  readonly inspect: Inspection;
  /** What the store does for a process that has it alone and opens it after another one. */
  readonly reopen: () => void;
  /** For a planted bug. */
  readonly forgetTombstones: () => void;
  /** For a planted bug: removal does not look whether the log has what it was owed. */
  readonly forgetLog: () => void;
  readonly queueHalves: QueueHalves;
};

export type Inspection = {
  readonly records: ReadonlyMap<MessageId, MessageRecord>;
  readonly fanOuts: ReadonlyMap<MessageId, FanOut>;
  readonly lanes: ReadonlyMap<FlowId, FlowLane>;
  readonly queues: ModelQueues["rows"];
  /** Written since the last call: what a check after each step has to look at. */
  takeTouched(): readonly MessageId[];
  waitingIn(lane: FlowId): number;
  /** A fan-out that is not expanded refers to the chunk. */
  readonly isInUse: (chunk: GroupChunkId) => boolean;
};

type Row = { record: MessageRecord; readonly place: number };

export function modelRecords(
  now: () => number,
  schedules: ScheduleModel,
  log: ModelMessageLog,
): ModelRecords {
  const rows = new Map<MessageId, Row>();
  const standing = new Map<MessageId, MessageRecord>();
  const fanOutRows = new Map<
    MessageId,
    { fanOut: FanOut; readonly first: number; readonly queuePlace: number | undefined }
  >();
  const tombstones = new Map<MessageId, number>();
  const owing = new Set<MessageId>();
  let forgetsLog = false;
  const lanes = new Map<FlowId, FlowLane>();
  const usedAt = new Map<FlowId, number>();
  const waiting = new Map<FlowId, Map<MessageId, number>>();
  const childrenOf = new Map<MessageId, number>();
  let touched = new Set<MessageId>();
  let places = 0;

  const put = (record: MessageRecord, place: number): void => {
    const { id, flow } = record.message;
    const before = standing.get(id);
    rows.set(id, { record, place });
    standing.set(id, record);
    touched.add(id);
    queues.changed(record);
    if (flow === undefined) return;
    if (record.state.kind !== "waiting") waiting.get(flow)?.delete(id);
    else if (before?.state.kind !== "waiting") getIntoLine(flow, id, place);
  };

  const getIntoLine = (id: FlowId, member: MessageId, place: number): void => {
    const line = waiting.get(id) ?? new Map<MessageId, number>();
    waiting.set(id, line.set(member, place));
    wake(id);
  };

  const wake = (id: FlowId): void => setAlarm(id, (wakeAt) => Math.min(wakeAt ?? Infinity, now()));

  /** The one way to set a lane's alarm. */
  const setAlarm = (id: FlowId, to: (wakeAt: number | undefined) => number): void => {
    const lane = lanes.get(id);
    if (!lane) return;
    lanes.set(id, { ...lane, seq: lane.seq + 1, wakeAt: to(lane.wakeAt) });
    usedAt.set(id, now());
  };

  /** What this build does not understand is not there for it. */
  const find = (id: MessageId): MessageRecord | undefined => {
    const record = rows.get(id)?.record;
    return record && isUnderstood(record.message) ? record : undefined;
  };

  const change = (id: MessageId, next: MessageRecord): void => {
    const row = rows.get(id);
    if (row) put(next, row.place);
  };

  const withBody = <R extends MessageRecord>(record: R): R => {
    const { bodyOf } = record.message;
    if (bodyOf === undefined) return record;
    const keeper = fanOutRows.get(bodyOf);
    if (!keeper) throw new Error(`the body of ${record.message.id} went with its fan-out`);
    return { ...record, message: { ...record.message, body: keeper.fanOut.body } };
  };

  const withoutBody = (record: MessageRecord): MessageRecord => ({
    ...record,
    message: { ...record.message, body: new Uint8Array() },
  });

  const bulkActions = modelBulkActions(now);
  const queues = modelQueues({
    now,
    all: () => standing.values(),
    find: (id) => standing.get(id),
    change: (id, next) => change(id, next),
    cancel: (tenant, id) => cancelOne(tenant, id),
    wakeLane: (lane) => wake(lane),
    firstUnmade: (queue, after) => firstUnmade(queue, after),
  });

  const join = (flow: Flow): void => {
    const { lane: id, tenant, key, shard, limits } = flow;
    const known = lanes.get(id);
    const unset = { wakeAt: undefined, window: undefined };
    const format = Math.max(flow.format, known?.format ?? 1);
    lanes.set(id, {
      ...(known ?? {
        id,
        tenant,
        key,
        shard,
        limits,
        paused: false,
        pins: noPins,
        ...unset,
        seq: 0,
      }),
      ...(format > 1 && { format }),
    });
    if (!known) usedAt.set(id, now());
  };

  const configure = (flow: Flow): void => {
    join(flow);
    const known = lanes.get(flow.lane);
    const limits = known && limitsPublished(known, flow.limits);
    if (!limits || areSameLimits(known.limits, limits)) return;
    lanes.set(flow.lane, { ...known, limits });
    wake(flow.lane);
  };

  const setPaused = (flow: Flow, paused: boolean): void => {
    join(flow);
    const lane = lanes.get(flow.lane);
    if (lane) lanes.set(lane.id, { ...lane, paused });
    usedAt.set(flow.lane, now());
  };

  const forgetLanes = (mine: ReadonlySet<number>): void => {
    const needed = new Set<FlowId | undefined>(
      [...standing.values()].map(({ message }) => message.flow),
    );
    for (const lane of lanes.values()) {
      const rests =
        isUnderstood(lane) &&
        lane.wakeAt === undefined &&
        !needed.has(lane.id) &&
        mine.has(lane.shard);
      if (rests && isForgettable(lane, usedAt.get(lane.id) ?? 0, now())) lanes.delete(lane.id);
    }
  };

  /** Reserved by its fan-out, or the next. */
  const placeOf = ({ id, bodyOf }: Message): number => {
    const keeper = bodyOf && fanOutRows.get(bodyOf);
    return keeper ? keeper.first + (parentOf(id)?.index ?? 0) : ++places;
  };

  const queuePlaceOf = ({ id, bodyOf }: Message): number | undefined => {
    const first = bodyOf && fanOutRows.get(bodyOf)?.queuePlace;
    return first === undefined ? undefined : first + (parentOf(id)?.index ?? 0);
  };

  const firstUnmade = (queue: QueueId, after: number): number | undefined => {
    const inQueue = [...fanOutRows.values()].filter(({ fanOut }) => fanOut.queue === queue);
    const unmade = inQueue.flatMap(({ fanOut, queuePlace = 0 }) =>
      isExpanding(fanOut) && queuePlace > after ? queuePlace + fanOut.state.upTo : [],
    );
    return unmade.length > 0 ? Math.min(...unmade) : undefined;
  };

  const insertFanOut = (fanOut: FanOut): Inserted => {
    if (fanOutRows.has(fanOut.id) || (tombstones.get(fanOut.id) ?? 0) > now()) return "known";
    for (const flow of flowsOf(fanOut).sets) configure(flow);
    const { endpointCount, queue } = fanOut;
    const queuePlace =
      queue === undefined ? undefined : queues.reserve(fanOut, queue, endpointCount);
    fanOutRows.set(fanOut.id, { fanOut, first: places + 1, queuePlace });
    places += endpointCount;
    return "inserted";
  };

  const changeFanOut = (id: MessageId, next: Partial<FanOut>): void => {
    const row = fanOutRows.get(id);
    if (row) fanOutRows.set(id, { ...row, fanOut: { ...row.fanOut, ...next } });
  };

  const insertOne = (record: MessageRecord): Inserted => {
    const { id, bodyOf } = record.message;
    if (rows.has(id) || (tombstones.get(id) ?? 0) > now()) return "known";
    for (const flow of flowsSetBy(record.message)) configure(flow);
    const flow = flowOf(record.message);
    if (flow) join(flow);
    queues.join(record.message, queuePlaceOf(record.message));
    put(
      bodyOf === undefined
        ? record
        : { ...record, message: { ...record.message, body: new Uint8Array() } },
      placeOf(record.message),
    );
    if (bodyOf !== undefined) childrenOf.set(bodyOf, (childrenOf.get(bodyOf) ?? 0) + 1);
    const { createdAt, run, tenant } = record.message;
    if (!run) log.countCreated(tenant, createdAt);
    return "inserted";
  };

  const settleOne = (settlement: Settlement): Settled => {
    const { message, epoch, append } = settlement;
    const record = rows.get(message.id)?.record;
    if (!record || record.epoch !== epoch) return { kind: "fenced" };
    const owed = record.outbox.length === 0 ? owedToLog(settlement) : undefined;
    if (!isIn(record, "claimed")) {
      const still = new Set(record.outbox.map(({ attempt, kind }) => `${attempt} ${kind}`));
      const left = append.filter(({ attempt, kind }) => still.has(`${attempt} ${kind}`));
      return { kind: "ok", left, ...(owed && { owed }) };
    }
    if (owed) return settleWhole(record, settlement, owed);
    const { next: state, wakeAt, retried, leaseLosses, deferrals } = settlement;
    const outbox = [...record.outbox, ...append];
    change(message.id, { ...record, state, wakeAt, retried, leaseLosses, deferrals, outbox });
    return { kind: "ok", left: append };
  };

  const settleWhole = (
    record: MessageRecord,
    { message, next: state, retried, leaseLosses, deferrals }: Settlement,
    owed: AttemptFact,
  ): Settled => {
    owing.add(message.id);
    change(message.id, { ...record, state, wakeAt: undefined, retried, leaseLosses, deferrals });
    return { kind: "ok", left: [], owed };
  };

  /** What the settler has not told. */
  const tellOwed = async ({ message, retried, state }: MessageRecord): Promise<void> => {
    if (!owing.delete(message.id) || !isFinished(state)) return;
    if (!log.statesOf(message.id).includes("DELIVERED"))
      await log.port.append([{ message, fact: owedFact(message.id, retried, state.endedAt) }]);
  };

  const cancelOne = (tenant: string, id: MessageId): Canceled => {
    const record = find(id);
    if (!record || record.message.tenant !== tenant || isFinished(record.state))
      return { kind: "unknown" };
    if (record.message.run) return { kind: "unknown" };
    const { next, epoch, wakeAt, fact } = cancel({ ...record, state: record.state }, now());
    change(id, { ...record, state: next, epoch, wakeAt, outbox: [...record.outbox, fact] });
    return {
      kind: "canceled",
      message: withoutBody(record).message,
      was: record.state.kind,
      left: [fact],
    };
  };

  const removable = ({ state, outbox, message }: MessageRecord, endedBefore: number): boolean =>
    isUnderstood(message) &&
    isFinished(state) &&
    state.endedAt < endedBefore &&
    outbox.length === 0;

  const removeFanOuts = (mine: ReadonlySet<number>, endedBefore: number): number => {
    const gone = [...fanOutRows.values()].filter(
      ({ fanOut: { id, shard, state } }) =>
        mine.has(shard) &&
        state.kind === "expanded" &&
        state.endedAt < endedBefore &&
        (childrenOf.get(id) ?? 0) === 0,
    );
    for (const { fanOut } of gone) {
      fanOutRows.delete(fanOut.id);
      if (isDerived(fanOut.id)) tombstones.set(fanOut.id, now() + limits.tombstoneMs);
    }
    return gone.length;
  };

  const removeOne = (id: MessageId): void => {
    const bodyOf = rows.get(id)?.record.message.bodyOf;
    if (bodyOf !== undefined) childrenOf.set(bodyOf, (childrenOf.get(bodyOf) ?? 1) - 1);
    rows.delete(id);
    standing.delete(id);
    touched.add(id);
    if (isDerived(id)) tombstones.set(id, now() + limits.tombstoneMs);
  };

  const records: Records = {
    insert: async (inserts) => inserts.map(({ record }) => insertOne(record)),
    claim: async (ids, owner) =>
      ids.flatMap((id) => {
        const record = rows.get(id)?.record;
        if (!record || !isClaimable(record, now())) return [];
        const claimed = claim(record, owner, now());
        change(id, claimed);
        return [withBody(claimed)];
      }),
    pull: async (tenant, limit, exceptOrigins) => {
      const due: Hint[] = [];
      for (const { record } of rows.values()) {
        if (due.length >= limit) break;
        if (
          record.message.tenant !== tenant ||
          record.state.kind !== "due" ||
          !isClaimable(record, now())
        )
          continue;
        const hint = hintOf(record);
        if (!exceptOrigins.includes(hint.origin)) due.push(hint);
      }
      return due;
    },
    renew: async (claims) =>
      claims.flatMap(({ id, epoch, begins }) => {
        const record = rows.get(id)?.record;
        if (
          !record ||
          record.epoch !== epoch ||
          !isIn(record, "claimed") ||
          record.state.leaseUntil <= now()
        )
          return [id];
        const leaseUntil = now() + limits.leaseMs;
        // docs/design/record#the-outbox: an outbox keeps its alarm however long the attempt runs.
        const wakeAt =
          record.outbox.length > 0 ? Math.min(record.wakeAt ?? Infinity, leaseUntil) : leaseUntil;
        const { kind, owner } = record.state;
        const state = { kind, owner, leaseUntil, ...(!begins && { renewed: true as const }) };
        change(id, { ...record, state, wakeAt });
        return [];
      }),
    settle: async (settlements) => settlements.map(settleOne),
    clear: async (items) => {
      for (const { id, attempt, item } of items) {
        const record = rows.get(id)?.record;
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
          isUnderstood(message) &&
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
    removeFinished: async (shards, endedBefore, limit) => {
      const mine = new Set(shards);
      const gone = [...standing.values()]
        .filter((record) => mine.has(record.message.shard) && removable(record, endedBefore))
        .slice(0, limit);
      for (const record of gone) {
        if (!forgetsLog) await tellOwed(record);
        removeOne(record.message.id);
      }
      forgetLanes(mine);
      queues.sweep();
      return gone.length + removeFanOuts(mine, endedBefore);
    },
    dueSince: async (tenant) => {
      const times = [...rows.values()].flatMap(({ record: { message, state, wakeAt } }) =>
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

  type SourceAlarms = {
    readonly ring: (shards: readonly number[], limit: number) => readonly Rung[];
    readonly next: (shards: readonly number[]) => number | undefined;
  };
  const armedFanOuts = (shards: readonly number[]): readonly FanOut[] =>
    [...fanOutRows.values()]
      .map(({ fanOut }) => fanOut)
      .filter(
        (each) => each.wakeAt !== undefined && shards.includes(each.shard) && isUnderstood(each),
      );
  const others: { readonly [Source in RowSource]: SourceAlarms } = {
    fanOut: {
      ring: (shards, limit) => {
        const due = armedFanOuts(shards).filter(({ wakeAt = Infinity }) => wakeAt <= now());
        return due.slice(0, limit).map(({ id, tenant }) => {
          changeFanOut(id, { wakeAt: now() + limits.ringAheadMs });
          return { kind: "fanOut", id, tenant };
        });
      },
      next: (shards) => {
        const earliest = Math.min(...armedFanOuts(shards).map(({ wakeAt = Infinity }) => wakeAt));
        return earliest < Infinity ? earliest : undefined;
      },
    },
    schedule: {
      ring: (shards, limit) =>
        schedules.ring(shards, limit).map((schedule) => ({ kind: "schedule", schedule })),
      next: schedules.next,
    },
    bulkAction: {
      ring: (shards, limit) =>
        bulkActions.ring(shards, limit).map((action) => ({ kind: "bulkAction", action })),
      next: bulkActions.next,
    },
    run: {
      ring: (shards, limit) => runs.ring(shards, limit).map((run) => ({ kind: "run", run })),
      next: runs.next,
    },
  };

  const alarms: Alarms = {
    ring: async (shards, limitOfEach, sources = alarmSources) => {
      const mine = new Set(shards);
      const said: Rung[] = [];
      const granting = new Set<FlowId>();
      const ofEach = new Map(
        recordSources
          .filter((source) => sources.includes(source))
          .map((source): [RecordSource, MessageRecord[]] => [source, []]),
      );
      const at = now();
      for (const record of standing.values()) {
        const { wakeAt = Infinity, message, state, outbox } = record;
        if (wakeAt > at || !mine.has(message.shard) || !isUnderstood(message)) continue;
        const ofSource = ofEach.get(sourceOf(state, outbox));
        if (ofSource && ofSource.length < limitOfEach) ofSource.push(record);
      }
      const due = [...ofEach.values()].flat();
      let bytes = 0;
      let isCut = false;
      for (const record of due) {
        isCut ||= bytes >= limits.readBytesMax;
        if (isCut) break;
        const { next, wakeAt, then, followUp } = ring(record, now());
        const rung: MessageRecord = { ...record, state: next, wakeAt };
        change(record.message.id, rung);
        if (then === "hint") said.push({ kind: "hint", hint: hintOf(rung) });
        if (then === "grant" && record.message.flow !== undefined)
          granting.add(record.message.flow);
        if (next.kind === "queued") queues.wake(next.queue);
        const source = sourceOf(next, record.outbox);
        if (followUp) bytes += sizeOf(withBody(rung));
        if (followUp)
          said.push({
            kind: "followUp",
            record: source === "fact" ? withoutBody(rung) : withBody(rung),
          });
      }
      for (const lane of lanes.values()) {
        if (
          lane.wakeAt !== undefined &&
          lane.wakeAt <= now() &&
          mine.has(lane.shard) &&
          isUnderstood(lane)
        )
          granting.add(lane.id);
      }
      for (const lane of granting) {
        setAlarm(lane, () => now() + limits.ringAheadMs);
        said.push({ kind: "lane", lane });
      }
      for (const lane of queues.ring(mine)) said.push({ kind: "lane", lane });
      const rungRows = rowSources
        .filter((source) => sources.includes(source))
        .map((source) => others[source].ring(shards, limitOfEach));
      said.push(...rungRows.flat());
      const more =
        isCut || [...ofEach.values(), ...rungRows].some(({ length }) => length >= limitOfEach);
      return { rung: said, more };
    },
    next: async (shards, sources = alarmSources) => {
      const mine = new Set(shards);
      let earliest = Infinity;
      const look = (of: Pick<Message, "format" | "shard">, wakeAt = Infinity): void => {
        if (wakeAt < earliest && mine.has(of.shard) && isUnderstood(of)) earliest = wakeAt;
      };
      for (const { wakeAt, message, state, outbox } of standing.values())
        if (sources.includes(sourceOf(state, outbox))) look(message, wakeAt);
      for (const lane of lanes.values()) look(lane, lane.wakeAt);
      for (const { lane } of queues.rows.values()) look(lane, lane.wakeAt);
      for (const source of rowSources)
        if (sources.includes(source))
          earliest = Math.min(earliest, others[source].next(shards) ?? Infinity);
      return earliest < Infinity ? earliest : undefined;
    },
  };

  const flowLanes: FlowLanes = {
    rows: async (ids) => ids.flatMap((id) => lanes.get(id) ?? []),
    list: async (tenant, search, limit) =>
      [...lanes.values()]
        .filter((lane) => lane.tenant === tenant && lane.key.includes(search))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit),
    waiting: async (ids) =>
      new Map(
        ids.flatMap((id) => (waiting.get(id)?.size ? [[id, waiting.get(id)?.size ?? 0]] : [])),
      ),
    pin: async (flow, pinned) => {
      join(flow);
      const lane = lanes.get(flow.lane);
      if (lane) lanes.set(lane.id, { ...lane, ...pin(lane, pinned) });
      wake(flow.lane);
    },
    unpin: async (id, parts) => {
      const lane = lanes.get(id);
      if (lane) lanes.set(id, { ...lane, ...unpin(lane, parts) });
      return lane !== undefined;
    },
    pause: async (flow) => setPaused(flow, true),
    resume: async (flow) => {
      setPaused(flow, false);
      wake(flow.lane);
    },
    heads: async (lane, n) =>
      [...(waiting.get(lane) ?? [])]
        .toSorted(([, a], [, b]) => a - b)
        .slice(0, n)
        .flatMap(([id]) => rows.get(id)?.record ?? [])
        .map(hintOf),
    promote: async (lane, ids, grantUntil, window) => {
      const row = lanes.get(lane);
      if (row && window) lanes.set(lane, { ...row, window });
      return ids.flatMap((id) => {
        const record = rows.get(id)?.record;
        if (!record || !isIn(record, "waiting") || record.message.flow !== lane) return [];
        const { next: state, wakeAt } = promote(grantUntil, now());
        change(id, { ...record, state, wakeAt });
        return [id];
      });
    },
    keepWindow: async (id, window) => {
      const lane = lanes.get(id);
      if (lane) lanes.set(id, { ...lane, window });
    },
    rest: async (id, seq, wakeAt, window) => {
      const lane = lanes.get(id);
      if (!lane || lane.seq !== seq) return false;
      lanes.set(id, { ...lane, wakeAt, window });
      return true;
    },
    slotHolders: async (lane) =>
      [...standing.values()].flatMap(({ message, state }) => {
        if (message.flow !== lane) return [];
        if (state.kind === "claimed") return [{ id: message.id, until: state.leaseUntil }];
        if (state.kind === "due" && (state.grantUntil ?? 0) > now())
          return [{ id: message.id, until: state.grantUntil ?? 0 }];
        return [];
      }),
  };

  const fanOuts: FanOuts = {
    expanding: async (tenant, after, before, limit) =>
      [...fanOutRows.values()]
        .map(({ fanOut }) => fanOut)
        .filter((fanOut) => fanOut.tenant === tenant && isExpanding(fanOut) && isUnderstood(fanOut))
        .map(({ id }) => id)
        .filter((id) => id > (after ?? "") && id < before)
        .toSorted((a, b) => (a < b ? -1 : 1))
        .slice(0, limit),
    insert: async (fanOut) => insertFanOut(fanOut),
    get: async (tenant, ids) =>
      ids.map((id) => {
        const fanOut = fanOutRows.get(id)?.fanOut;
        return fanOut?.tenant === tenant && isUnderstood(fanOut) ? fanOut : undefined;
      }),
    advance: async (id, from, upTo, done) => {
      const fanOut = fanOutRows.get(id)?.fanOut;
      if (!fanOut || !isUnderstood(fanOut)) return false;
      if (!isExpanding(fanOut) || fanOut.state.upTo !== from) return false;
      changeFanOut(id, advanceTo(upTo, done, now()));
      if (fanOut.queue !== undefined) queues.wake(fanOut.queue);
      return true;
    },
  };

  return {
    ports: {
      ...{ records, alarms, flowLanes, fanOuts },
      queues: queues.port,
      bulkActions: bulkActions.port,
      runs: runs.port,
      runLog: runs.log,
    },
    inspect: {
      records: standing,
      lanes,
      queues: queues.rows,
      takeTouched: () => {
        const ids = [...touched];
        touched = new Set();
        return ids;
      },
      waitingIn: (lane) => waiting.get(lane)?.size ?? 0,
      get fanOuts() {
        return new Map([...fanOutRows].map(([id, { fanOut }]) => [id, fanOut]));
      },
      isInUse: (chunk) =>
        [...fanOutRows.values()].some(
          ({ fanOut }) => isExpanding(fanOut) && fanOut.chunks.includes(chunk),
        ),
    },
    reopen: () => {
      for (const [id, { fanOut }] of fanOutRows)
        if (fanOut.wakeAt !== undefined && fanOut.wakeAt > now() && isUnderstood(fanOut))
          changeFanOut(id, { wakeAt: now() });
      for (const record of [...standing.values()])
        if (isUnderstood(record.message)) change(record.message.id, reopened(record, now()));
      for (const lane of lanes.values()) {
        if (lane.wakeAt !== undefined && lane.wakeAt > now() && isUnderstood(lane))
          lanes.set(lane.id, { ...lane, wakeAt: now() });
      }
      queues.wakeAll();
      schedules.reopen();
      bulkActions.reopen();
      runs.reopen();
    },
    forgetTombstones: () => tombstones.clear(),
    forgetLog: () => void (forgetsLog = true),
    queueHalves: queues.halves,
  };
}
