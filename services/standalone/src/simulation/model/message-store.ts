/**
 * A record store in memory that does what the port says, and leaves every follow-up to its callers, as a store over a
 * network does. Each call is one step: it is the reference that the checks can look into.
 */
import {
  alarmOf,
  cancel,
  claim,
  type InState,
  isClaimable,
  isDerived,
  isFinished,
  isIn,
  type LaneId,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  ring,
  type Settlement,
  shardOf,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import {
  type Canceled,
  type Hint,
  type Inserted,
  type LaneRow,
  type MessageStore,
  type Settled,
} from "@posthaste/ports";

export type ModelMessageStore = {
  readonly port: MessageStore;
  readonly inspect: Inspection;
  /** All claims of an earlier process become due, as on opening the embedded store (decisions.md 8). */
  readonly reopen: () => void;
  /** For a planted bug. */
  readonly forgetTombstones: () => void;
};

export type Inspection = {
  readonly records: ReadonlyMap<MessageId, MessageRecord>;
  readonly lanes: ReadonlyMap<LaneId, LaneRow>;
  /** Written since the last call: what a check after each step has to look at. */
  takeTouched(): readonly MessageId[];
  waitingIn(lane: LaneId): number;
};

type Row = { record: MessageRecord; readonly place: number };

export function modelMessageStore(now: () => number): ModelMessageStore {
  const rows = new Map<MessageId, Row>();
  const records = new Map<MessageId, MessageRecord>();
  const tombstones = new Map<MessageId, number>();
  const lanes = new Map<LaneId, LaneRow>();
  const waiting = new Map<LaneId, Map<MessageId, number>>();
  const childrenOf = new Map<MessageId, number>();
  let touched = new Set<MessageId>();
  let places = 0;

  const put = (record: MessageRecord, place: number): void => {
    const { id, flowLane } = record.message;
    const before = records.get(id);
    rows.set(id, { record, place });
    records.set(id, record);
    touched.add(id);
    if (flowLane === undefined) return;
    if (record.state.kind !== "waiting") waiting.get(flowLane)?.delete(id);
    else if (before?.state.kind !== "waiting") getIntoLine(flowLane, id, place);
  };

  const getIntoLine = (id: LaneId, member: MessageId, place: number): void => {
    const line = waiting.get(id) ?? new Map<MessageId, number>();
    waiting.set(id, line.set(member, place));
    const lane = lanes.get(id);
    if (lane)
      lanes.set(id, {
        ...lane,
        seq: lane.seq + 1,
        wakeAt: Math.min(lane.wakeAt ?? Infinity, now()),
      });
  };

  const change = (id: MessageId, next: MessageRecord): void => {
    const row = rows.get(id);
    if (row) put(next, row.place);
  };

  const withBody = <R extends MessageRecord>(record: R): R => {
    const { bodyOf } = record.message;
    if (bodyOf === undefined) return record;
    const parent = rows.get(bodyOf);
    if (!parent) throw new Error(`the body of ${record.message.id} went with its parent`);
    return { ...record, message: { ...record.message, body: parent.record.message.body } };
  };

  const makeLane = ({ flowLane, tenant, policy }: Message): void => {
    if (flowLane === undefined || policy.flow === undefined) return;
    const known = lanes.get(flowLane);
    const { key, limits } = policy.flow;
    const fresh: LaneRow = {
      id: flowLane,
      tenant,
      key,
      shard: shardOf(flowLane),
      limits,
      wakeAt: undefined,
      window: undefined,
      seq: 0,
    };
    lanes.set(flowLane, known ? { ...known, limits } : fresh);
  };

  const insertOne = (record: MessageRecord): Inserted => {
    const { id, bodyOf } = record.message;
    if (rows.has(id) || (tombstones.get(id) ?? 0) > now()) return "known";
    makeLane(record.message);
    places += 1;
    put(
      bodyOf === undefined
        ? record
        : { ...record, message: { ...record.message, body: new Uint8Array() } },
      places,
    );
    if (bodyOf !== undefined) childrenOf.set(bodyOf, (childrenOf.get(bodyOf) ?? 0) + 1);
    return "inserted";
  };

  const settleOne = (settlement: Settlement): Settled => {
    const { message, epoch, append } = settlement;
    const record = rows.get(message.id)?.record;
    if (!record || record.epoch !== epoch) return { kind: "fenced" };
    if (!isIn(record, "claimed")) {
      const still = new Set(record.outbox.map(({ attempt, kind }) => `${attempt} ${kind}`));
      return {
        kind: "ok",
        left: append.filter(({ attempt, kind }) => still.has(`${attempt} ${kind}`)),
      };
    }
    const { next: state, wakeAt, retried, leaseLosses, deferrals } = settlement;
    const outbox = [...record.outbox, ...append];
    change(message.id, { ...record, state, wakeAt, retried, leaseLosses, deferrals, outbox });
    return { kind: "ok", left: append };
  };

  const cancelOne = (tenant: string, id: MessageId): Canceled => {
    const record = rows.get(id)?.record;
    if (
      !record ||
      record.message.tenant !== tenant ||
      record.message.fanOut ||
      isFinished(record.state)
    )
      return { kind: "unknown" };
    const { next, epoch, wakeAt, fact } = cancel({ ...record, state: record.state }, now());
    change(id, { ...record, state: next, epoch, wakeAt, outbox: [...record.outbox, fact] });
    return {
      kind: "canceled",
      message: withBody(record).message,
      was: record.state.kind,
      left: [fact],
    };
  };

  const removable = ({ state, outbox, message }: MessageRecord, endedBefore: number): boolean =>
    isFinished(state) &&
    state.endedAt < endedBefore &&
    outbox.length === 0 &&
    (childrenOf.get(message.id) ?? 0) === 0;

  const removeOne = (id: MessageId): void => {
    const bodyOf = rows.get(id)?.record.message.bodyOf;
    if (bodyOf !== undefined) childrenOf.set(bodyOf, (childrenOf.get(bodyOf) ?? 1) - 1);
    rows.delete(id);
    records.delete(id);
    touched.add(id);
    if (isDerived(id)) tombstones.set(id, now() + limits.tombstoneMs);
  };

  const port: MessageStore = {
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
      claims.flatMap(({ id, epoch }) => {
        const record = rows.get(id)?.record;
        if (
          !record ||
          record.epoch !== epoch ||
          !isIn(record, "claimed") ||
          record.state.leaseUntil <= now()
        )
          return [id];
        const leaseUntil = now() + limits.leaseMs;
        // decisions.md 1: an outbox keeps its alarm however long the attempt runs.
        const wakeAt =
          record.outbox.length > 0 ? Math.min(record.wakeAt ?? Infinity, leaseUntil) : leaseUntil;
        change(id, { ...record, state: { ...record.state, leaseUntil }, wakeAt });
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
          outbox.length === 0 && (isFinished(record.state) || record.state.kind === "waiting");
        change(id, { ...record, outbox, wakeAt: quiet ? undefined : record.wakeAt });
      }
    },
    cancel: async (tenant, ids) => ids.map((id) => cancelOne(tenant, id)),
    get: async (tenant, ids) =>
      ids.map((id) => {
        const record = rows.get(id)?.record;
        return record?.message.tenant === tenant ? withBody(record) : undefined;
      }),
    expanded: async (parent, from, upTo, done) => {
      const record = rows.get(parent)?.record;
      if (!record || !isIn(record, "expanding") || record.state.upTo !== from) return false;
      const state = done
        ? ({ kind: "expanded", endedAt: now() } as const)
        : ({ kind: "expanding", upTo } as const);
      change(parent, { ...record, state, wakeAt: alarmOf(state, false, now()) });
      return true;
    },
    ring: async (shards, limit) => {
      const mine = new Set(shards);
      const hints: Hint[] = [];
      const granting = new Set<LaneId>();
      const expanding: InState<"expanding">[] = [];
      const followUps: MessageRecord[] = [];
      const due = [...records.values()]
        .filter(
          ({ wakeAt, message }) =>
            wakeAt !== undefined && wakeAt <= now() && mine.has(message.shard),
        )
        .slice(0, limit);
      for (const record of due) {
        const { next, wakeAt, then, followUp } = ring(record, now());
        const rung: MessageRecord = { ...record, state: next, wakeAt };
        change(record.message.id, rung);
        if (then === "hint") hints.push(hintOf(rung));
        if (then === "grant" && record.message.flowLane !== undefined)
          granting.add(record.message.flowLane);
        if (then === "expand" && isIn(rung, "expanding")) expanding.push(rung);
        if (followUp) followUps.push(withBody(rung));
      }
      for (const lane of lanes.values()) {
        if (lane.wakeAt !== undefined && lane.wakeAt <= now() && mine.has(lane.shard))
          granting.add(lane.id);
      }
      for (const id of granting) {
        const lane = lanes.get(id);
        if (lane) lanes.set(id, { ...lane, wakeAt: now() + limits.ringAheadMs });
      }
      return { hints, lanes: [...granting], expanding, followUps };
    },
    nextAlarm: async (shards) => {
      const mine = new Set(shards);
      let earliest = Infinity;
      for (const { wakeAt, message } of records.values()) {
        if (wakeAt !== undefined && wakeAt < earliest && mine.has(message.shard)) earliest = wakeAt;
      }
      for (const { wakeAt, shard } of lanes.values()) {
        if (wakeAt !== undefined && wakeAt < earliest && mine.has(shard)) earliest = wakeAt;
      }
      return earliest < Infinity ? earliest : undefined;
    },
    removeFinished: async (shards, endedBefore, limit) => {
      const mine = new Set(shards);
      const gone = [...records.values()]
        .filter((record) => mine.has(record.message.shard) && removable(record, endedBefore))
        .slice(0, limit);
      for (const { message } of gone) removeOne(message.id);
      return gone.length;
    },
    lanes: async (ids) => ids.flatMap((id) => lanes.get(id) ?? []),
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
        if (!record || !isIn(record, "waiting")) return [];
        const state = { kind: "due", hints: 0, grantUntil } as const;
        const promoted: MessageRecord = {
          ...record,
          state,
          wakeAt: alarmOf(state, record.outbox.length > 0, now()),
        };
        change(id, promoted);
        return [id];
      });
    },
    rest: async (id, seq, wakeAt, window) => {
      const lane = lanes.get(id);
      if (!lane || lane.seq !== seq) return false;
      lanes.set(id, { ...lane, wakeAt, window });
      return true;
    },
    slotHolders: async (lane) =>
      [...records.values()].flatMap(({ message, state }) => {
        if (message.flowLane !== lane) return [];
        if (state.kind === "claimed") return [{ id: message.id, until: state.leaseUntil }];
        if (state.kind === "due" && (state.grantUntil ?? 0) > now())
          return [{ id: message.id, until: state.grantUntil ?? 0 }];
        return [];
      }),
    backlog: async (tenant) =>
      [...records.values()].filter(
        ({ message, state }) => message.tenant === tenant && !isFinished(state),
      ).length,
  };

  return {
    port,
    inspect: {
      records,
      lanes,
      takeTouched: () => {
        const ids = [...touched];
        touched = new Set();
        return ids;
      },
      waitingIn: (lane) => waiting.get(lane)?.size ?? 0,
    },
    reopen: () => {
      for (const record of [...records.values()]) {
        if (!isIn(record, "claimed")) continue;
        const losses = record.leaseLosses + 1;
        const state = { kind: "due", hints: 0 } as const;
        change(record.message.id, { ...record, state, leaseLosses: losses, wakeAt: now() });
      }
    },
    forgetTombstones: () => tombstones.clear(),
  };
}
