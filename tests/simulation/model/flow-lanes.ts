/** Lanes of flow control in memory, and the messages that wait in each. */
import {
  areSameLimits,
  type Flow,
  type FlowId,
  type FlowLane,
  isForgettable,
  isIn,
  isKnownFormat,
  limits,
  limitsPublished,
  type MessageId,
  noPins,
  pin,
  promote,
  unpin,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type FlowLanes } from "@posthaste/ports";
import { armedRows, type ArmedRows } from "./armed-rows.ts";
import { type Rows, type Written } from "./rows.ts";

export type ModelFlowLanes = Pick<ArmedRows<FlowLane>, "next" | "ring"> & {
  readonly port: FlowLanes;
  readonly lanes: ReadonlyMap<FlowId, FlowLane>;
  readonly waitingIn: (lane: FlowId) => number;
  /** Notes a written record, which joins the line or leaves it. */
  readonly written: Written;
  readonly join: (flow: Flow) => void;
  /** Makes the lane where missing, and sets the limits that were published. */
  readonly configure: (flow: Flow) => void;
  readonly wake: (lane: FlowId) => void;
  /** Moves the lane's alarm ahead. */
  readonly rung: (lane: FlowId) => void;
  /** Removes lanes that no message needs any more. */
  readonly sweep: (mine: ReadonlySet<number>) => void;
  /** Lets lanes ring now that had rung without being worked. */
  readonly reopen: () => void;
};

export function modelFlowLanes(now: () => number, rows: Rows): ModelFlowLanes {
  const lanes = new Map<FlowId, FlowLane>();
  const usedAt = new Map<FlowId, number>();
  const waiting = new Map<FlowId, Map<MessageId, number>>();

  /** Sets a lane's alarm; every alarm of a lane is set here. */
  const setAlarm = (id: FlowId, to: (wakeAt: number | undefined) => number): void => {
    const lane = lanes.get(id);
    if (!lane) return;
    lanes.set(id, { ...lane, seq: lane.seq + 1, wakeAt: to(lane.wakeAt) });
    usedAt.set(id, now());
  };

  const wake = (id: FlowId): void => setAlarm(id, (wakeAt) => Math.min(wakeAt ?? Infinity, now()));

  const rung = (id: FlowId): void => setAlarm(id, () => now() + limits.ringAheadMs);
  const armed = armedRows(
    now,
    () => lanes.values(),
    ({ id }, at) => setAlarm(id, () => at),
  );

  const getIntoLine = (id: FlowId, member: MessageId, place: number): void => {
    const line = waiting.get(id) ?? new Map<MessageId, number>();
    waiting.set(id, line.set(member, place));
    wake(id);
  };

  const join = (flow: Flow): void => {
    const { lane: id, tenant, key, shard, limits } = flow;
    const known = lanes.get(id);
    const unset = { wakeAt: undefined, window: undefined };
    const made = { id, tenant, key, shard, limits, paused: false, pins: noPins, ...unset, seq: 0 };
    const format = Math.max(flow.format, known?.format ?? 1);
    lanes.set(id, { ...(known ?? made), ...(format > 1 && { format }) });
    if (!known) usedAt.set(id, now());
  };

  const setPaused = (flow: Flow, paused: boolean): void => {
    join(flow);
    const lane = lanes.get(flow.lane);
    if (lane) lanes.set(lane.id, { ...lane, paused });
    usedAt.set(flow.lane, now());
  };

  const port: FlowLanes = {
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
        .flatMap(([id]) => rows.standing.get(id) ?? [])
        .map(hintOf),
    promote: async (lane, ids, grantUntil, window) => {
      const row = lanes.get(lane);
      if (row && window) lanes.set(lane, { ...row, window });
      return ids.flatMap((id) => {
        const record = rows.standing.get(id);
        if (!record || !isIn(record, "waiting") || record.message.flow !== lane) return [];
        const { next: state, wakeAt } = promote(grantUntil, now());
        rows.change(id, { ...record, state, wakeAt });
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
      [...rows.standing.values()].flatMap(({ message, state }) => {
        if (message.flow !== lane) return [];
        if (state.kind === "claimed") return [{ id: message.id, until: state.leaseUntil }];
        if (state.kind === "due" && (state.grantUntil ?? 0) > now())
          return [{ id: message.id, until: state.grantUntil ?? 0 }];
        return [];
      }),
  };

  return {
    port,
    lanes,
    waitingIn: (lane) => waiting.get(lane)?.size ?? 0,
    written: ({ message: { id, flow }, state }, before, place) => {
      if (flow === undefined) return;
      if (state.kind !== "waiting") waiting.get(flow)?.delete(id);
      else if (before?.state.kind !== "waiting") getIntoLine(flow, id, place);
    },
    join,
    configure: (flow) => {
      join(flow);
      const known = lanes.get(flow.lane);
      const published = known && limitsPublished(known, flow.limits);
      if (!published || areSameLimits(known.limits, published)) return;
      lanes.set(flow.lane, { ...known, limits: published });
      wake(flow.lane);
    },
    wake,
    ring: (shards) => armed.ring(shards),
    next: armed.next,
    rung,
    sweep: (mine) => {
      const needed = new Set<FlowId | undefined>(
        rows.standing.values().map(({ message }) => message.flow),
      );
      for (const lane of lanes.values()) {
        const rests =
          isKnownFormat(lane) &&
          lane.wakeAt === undefined &&
          !needed.has(lane.id) &&
          mine.has(lane.shard);
        if (rests && isForgettable(lane, usedAt.get(lane.id) ?? 0, now())) lanes.delete(lane.id);
      }
    },
    reopen: () => {
      for (const lane of lanes.values()) {
        if (lane.wakeAt !== undefined && lane.wakeAt > now() && isKnownFormat(lane))
          lanes.set(lane.id, { ...lane, wakeAt: now() });
      }
    },
  };
}
