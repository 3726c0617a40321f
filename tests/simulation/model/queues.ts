/** Queues in memory, beside the record store with their records. Does what the port says, each call in one step. */
import {
  type FanOut,
  type FlowId,
  freeTurns,
  type InState,
  isDone,
  isFinished,
  isIn,
  isKnownFormat,
  limits,
  mayClaimWithTurn,
  mayTakeBack,
  type Message,
  type MessageId,
  type MessageRecord,
  type Owner,
  queueId,
  type QueueId,
  type QueueLane,
  queueParallelismDefault,
  shardOf,
  takenBackEpoch,
  takeTurn,
  type TenantId,
  cutOff,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type Admitted, type Canceled, type Hint, type Queue, type Queues } from "@posthaste/ports";
import { armedRows, type ArmedRows } from "./armed-rows.ts";

/** The parts of the record store that queues use. */
export type Records = {
  readonly now: () => number;
  readonly all: () => Iterable<MessageRecord>;
  readonly find: (id: MessageId) => MessageRecord | undefined;
  readonly change: (id: MessageId, next: MessageRecord) => void;
  readonly withBody: (record: InState<"claimed">) => InState<"claimed">;
  readonly cancel: (tenant: TenantId, id: MessageId) => Canceled;
  readonly wakeLane: (lane: FlowId) => void;
  /** Returns the lowest place after `after` that is reserved for a child not made yet. */
  readonly firstUnmade: (queue: QueueId, after: number) => number | undefined;
};

type Row = {
  lane: QueueLane;
  lastPlace: number;
  /** The messages that have a turn, each with the time at which it was given. */
  readonly turns: Map<MessageId, number>;
  /** Records that are not finished. */
  readonly line: Map<MessageId, number>;
};

export type ModelQueues = ArmedRows<QueueLane> & {
  readonly port: Queues;
  readonly rows: ReadonlyMap<
    QueueId,
    {
      readonly lane: QueueLane;
      readonly turns: ReadonlyMap<MessageId, number>;
      readonly line: ReadonlyMap<MessageId, number>;
    }
  >;
  /** Adds a message; `place` is the reserved one, if any. */
  join(message: Message, place: number | undefined): void;
  reserve(fanOut: FanOut, queue: QueueId, count: number): number;
  /** Called after a record was written. */
  changed(record: MessageRecord): void;
  wake(queue: QueueId): void;
  sweep(): void;
  readonly halves: QueueHalves;
};

/** Half writes, which leave out a part that belongs to them. */
export type QueueHalves = {
  silence(queue: QueueId): void;
  /** Gives a turn whatever the queue's row says. */
  giveTurn(id: MessageId): void;
  endTurn(id: MessageId): void;
};

export function modelQueues(records: Records): ModelQueues {
  const { now } = records;
  const rows = new Map<QueueId, Row>();
  const callbacks = new Map<MessageId, Set<MessageId>>();

  const setAlarm = (row: Row, wakeAt: number): void => {
    row.lane = { ...row.lane, wakeAt, seq: row.lane.seq + 1 };
  };
  const wake = (id: QueueId): void => {
    const row = rows.get(id);
    if (row) setAlarm(row, Math.min(row.lane.wakeAt ?? Infinity, now()));
  };
  const armed = armedRows(
    now,
    () => rows.values().map(({ lane }) => lane),
    ({ id }, wakeAt) => {
      const row = rows.get(id);
      if (row) setAlarm(row, wakeAt);
    },
  );

  const make = (tenant: TenantId, name: string): Row => {
    const id = queueId(tenant, name);
    const known = rows.get(id);
    const made = {
      parallelism: queueParallelismDefault,
      paused: false,
      createdAt: now(),
      updatedAt: now(),
    };
    if (known) {
      const { endedAt: _, ...lane } = known.lane;
      known.lane = { ...lane, ...made };
      return known;
    }
    const shard = shardOf(id);
    const lane = { id, tenant, name, shard, ...made, wakeAt: undefined, seq: 0 };
    const row: Row = { lane, lastPlace: 0, turns: new Map(), line: new Map() };
    rows.set(id, row);
    return row;
  };

  const raiseFormat = (row: Row, format = 1): void => {
    if (format > (row.lane.format ?? 1)) row.lane = { ...row.lane, format };
  };

  const living = (tenant: TenantId, name: string): Row | undefined => {
    const row = rows.get(queueId(tenant, name));
    return row?.lane.endedAt === undefined ? row : undefined;
  };
  const livingOf = (tenant: TenantId): readonly Row[] =>
    [...rows.values()].filter(({ lane }) => lane.tenant === tenant && lane.endedAt === undefined);
  const livingOrMade = (tenant: TenantId, queue: QueueId): Row => {
    const name = queue.slice(queueId(tenant, "").length);
    return living(tenant, name) ?? make(tenant, name);
  };
  const makeWithin = (
    tenant: TenantId,
    names: readonly string[],
    max: number,
  ): readonly string[] => {
    const wanted = names.filter((name) => living(tenant, name) === undefined);
    const tooMany = wanted.slice(Math.max(0, max - livingOf(tenant).length));
    if (tooMany.length === 0) for (const name of wanted) make(tenant, name);
    return tooMany;
  };

  const isOver = (id: MessageId): boolean => {
    const live = [...(callbacks.get(id) ?? [])].some((callback) => {
      const record = records.find(callback);
      return record !== undefined && !isFinished(record.state);
    });
    return isDone(records.find(id), now()) && !live;
  };

  const giveTurn = (row: Row, id: MessageId, owner?: Owner): Given => {
    const record = records.find(id);
    if (!record || !isIn(record, "queued")) return {};
    const claimer = mayClaimWithTurn(record.message.body.length) ? owner : undefined;
    const taken = takeTurn(record, now(), claimer);
    row.turns.set(id, now());
    records.change(id, taken);
    if (isIn(taken, "claimed")) return { claimed: records.withBody(taken) };
    const { state } = taken;
    if (state.kind === "held") return { heldUntil: state.dueAt };
    if (state.kind === "due") return { hint: hintOf(taken) };
    records.wakeLane(state.flow);
    return { flow: state.flow };
  };

  const admit = (id: QueueId, owner: Owner | undefined): readonly Admitted[] => {
    const row = rows.get(id);
    if (!row || !isKnownFormat(row.lane)) return [];
    const { purgeUpTo = 0, tenant } = row.lane;
    const inOrder = [...row.line].toSorted(([, a], [, b]) => a - b);
    const ended = inOrder.filter(([, place]) => place <= purgeUpTo).slice(0, limits.admitBatchMax);
    if (!row.lane.paused)
      for (const each of row.turns.keys()) if (isOver(each)) row.turns.delete(each);
    const free = freeTurns(row.lane, row.turns.size);
    const unmade = records.firstUnmade(id, purgeUpTo);
    const first = inOrder
      .filter(([, place]) => place > purgeUpTo && place < (unmade ?? Infinity))
      .filter(([each]) => records.find(each)?.state.kind === "queued")
      .slice(0, Math.min(free, limits.admitBatchMax));
    const given = first.map(([each], n) => giveTurn(row, each, n === 0 ? owner : undefined));
    const waits = row.turns.size > 0 || ended.length > 0 || unmade !== undefined;
    const wakeAt = waits && !row.lane.paused ? now() + limits.ringAheadMs : undefined;
    row.lane = { ...row.lane, wakeAt };
    const times = given.flatMap(({ heldUntil }) => heldUntil ?? []);
    return [
      {
        queue: id,
        tenant,
        given: given.length,
        hints: given.flatMap(({ hint }) => hint ?? []),
        ...(given[0]?.claimed && { claimed: given[0].claimed }),
        flows: given.flatMap(({ flow }) => flow ?? []),
        ...(times.length > 0 && { heldUntil: Math.min(...times) }),
        ended: ended.map(([each]) => each),
        more: false,
      },
    ];
  };

  const takeBack = (row: Row) =>
    [...row.turns.keys()].flatMap((id) => {
      const record = records.find(id);
      if (!record || !mayTakeBack(record)) return [];
      const state = { kind: "queued", queue: row.lane.id } as const;
      row.turns.delete(id);
      records.change(id, { ...record, state, wakeAt: undefined, epoch: takenBackEpoch(record) });
      const { flow } = record.message;
      return flow === undefined ? [] : [{ id, flow }];
    });

  const queueOf = ({ lane, line }: Row): Queue => {
    const { name, parallelism, paused, createdAt, updatedAt } = lane;
    return { name, parallelism, paused, createdAt, updatedAt, lag: line.size };
  };

  const port: Queues = {
    make: async (...given) => makeWithin(...given),
    put: async ({ tenant, name, ...settings }, max) => {
      makeWithin(tenant, [name], max);
      const row = living(tenant, name);
      if (!row) return "full";
      row.lane = { ...row.lane, ...settings, updatedAt: now() };
      setAlarm(row, now());
      return { takenBack: row.lane.paused ? takeBack(row) : [] };
    },
    resume: async (tenant, name) => {
      const row = living(tenant, name);
      if (!row?.lane.paused) return;
      row.lane = { ...row.lane, paused: false, updatedAt: now() };
      setAlarm(row, now());
    },
    get: async (tenant, name) => {
      const row = living(tenant, name);
      return row && queueOf(row);
    },
    list: async (tenant, { after, limit }) =>
      livingOf(tenant)
        .map(queueOf)
        .filter(({ name }) => name > after)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit),
    end: async (tenant, name) => {
      const row = living(tenant, name);
      if (!row) return [];
      const canceled = [...row.turns.keys()].map((id) => records.cancel(tenant, id));
      row.turns.clear();
      row.lane = { ...row.lane, endedAt: now(), purgeUpTo: row.lastPlace, paused: false };
      setAlarm(row, now());
      return canceled;
    },
    admit: async (ids, ending) => {
      await ending?.written;
      return ids.flatMap((id) => admit(id, ending?.owner));
    },
    callsEnded: async (_, ids) => {
      for (const id of ids) {
        const record = records.find(id);
        if (!record || !isIn(record, "canceled")) continue;
        const { runsUntil: __, ...state } = record.state;
        records.change(id, { ...record, state });
        if (record.message.queue !== undefined) wake(record.message.queue);
      }
    },
    oldestTurn: async () => {
      const giving = [...rows.values()].filter(({ lane }) => !lane.paused);
      const times = giving.flatMap(({ turns }) => [...turns.values()]);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
  };

  const rowOf = (id: MessageId): Row | undefined => {
    const queue = records.find(id)?.message.queue;
    return queue === undefined ? undefined : rows.get(queue);
  };

  return {
    ...armed,
    ring: (shards) => armed.ring(shards),
    port,
    rows,
    wake,
    halves: {
      silence: (queue) => {
        const row = rows.get(queue);
        if (row) row.lane = { ...row.lane, wakeAt: undefined };
      },
      giveTurn: (id) => {
        const row = rowOf(id);
        if (row) giveTurn(row, id);
      },
      endTurn: (id) => void rowOf(id)?.turns.delete(id),
    },
    join: ({ id, tenant, queue, format }, place) => {
      if (queue === undefined) return;
      const row = (place !== undefined && rows.get(queue)) || livingOrMade(tenant, queue);
      if (place === undefined) row.lastPlace += 1;
      row.line.set(id, place ?? row.lastPlace);
      raiseFormat(row, format);
      wake(queue);
    },
    reserve: ({ tenant, format }, queue, count) => {
      const row = livingOrMade(tenant, queue);
      raiseFormat(row, format);
      const first = row.lastPlace + 1;
      row.lastPlace += count;
      return first;
    },
    changed: ({ message: { id, queue, turnOf }, state }) => {
      if (turnOf) callbacks.set(turnOf.id, (callbacks.get(turnOf.id) ?? new Set()).add(id));
      if (!isFinished(state)) return;
      if (queue !== undefined) rows.get(queue)?.line.delete(id);
      const concerned = queue ?? turnOf?.queue;
      if (concerned !== undefined) wake(concerned);
    },
    sweep: () => {
      const standing = new Set([...records.all()].map(({ message }) => message.queue));
      for (const [id, { lane }] of rows) {
        const isOld = (lane.endedAt ?? Infinity) <= cutOff(limits.laneKeptMs, now());
        if (isOld && lane.wakeAt === undefined && !standing.has(id)) rows.delete(id);
      }
    },
  };
}

type Given = {
  readonly claimed?: InState<"claimed">;
  readonly hint?: Hint;
  readonly heldUntil?: number;
  readonly flow?: FlowId;
};
