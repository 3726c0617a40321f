/** Deduplication windows and flow slots in memory, each call one script in a server that may forget everything. */
import {
  type DeduplicationKey,
  type FlowId,
  isOver,
  limits,
  newWindow,
  type MessageId,
  type RateWindow,
  type Slot,
  takeSlots,
  withTokenBack,
} from "@posthaste/domain";
import { type TokenStore, type Window } from "@posthaste/ports";

export type ModelTokenStore = {
  readonly port: TokenStore;
  readonly flush: () => void;
  /** Forgets the slots: they live in the memory of one process and go with it, while deduplication windows are on its disk. */
  readonly flushSlots: () => void;
  /** For a planted bug: deletes a key, as a careless publisher does when its insert has failed. */
  readonly forgetKey: (key: DeduplicationKey) => void;
};

type Pending = {
  readonly kind: "pending" | "done";
  readonly id: MessageId;
  readonly until: number;
};
type Lane = { slots: Map<MessageId, Slot>; window: RateWindow | undefined };

export function modelTokenStore(now: () => number): ModelTokenStore {
  const keys = new Map<DeduplicationKey, Pending>();
  const lanes = new Map<FlowId, Lane>();
  const spent = new Map<string, { readonly count: number; readonly until: number }>();

  const held = (key: DeduplicationKey): Pending | undefined => {
    const entry = keys.get(key);
    return entry && !isOver(entry.until, limits.deduplicationMs, now()) ? entry : undefined;
  };
  const hold = (id: FlowId, ids: readonly MessageId[]): void => {
    const lane = lanes.get(id);
    for (const member of ids) lane?.slots.set(member, { until: now() + limits.leaseMs });
    if (lane) order(lane);
  };
  const order = (lane: Lane): void => {
    lane.slots = new Map([...lane.slots].toSorted(([, a], [, b]) => a.until - b.until));
  };

  const port: TokenStore = {
    claim: async (entries) =>
      entries.map(({ key, id, instead }): Window => {
        const entry = held(key);
        if (entry && entry.id !== instead && (entry.kind === "done" || entry.id !== id))
          return { kind: entry.kind, id: entry.id };
        keys.set(key, { kind: "pending", id, until: now() + limits.deduplicationPendingMsMax });
        return { kind: "mine" };
      }),
    confirm: async (entries) => {
      for (const { key, id } of entries) {
        const entry = held(key);
        if (entry && entry.id !== id) continue;
        keys.set(key, { kind: "done", id, until: now() + limits.deduplicationMs });
      }
    },
    acquire: async (id, wanted, flow) => {
      const lane = lanes.get(id);
      const taken = lane && takeSlots(lane, wanted, flow, { now: now(), passedMs: now() });
      if (!taken) return { granted: [], isUnknown: true };
      const { granted, gone, opensInMs, slots, window } = taken;
      for (const member of gone) lane.slots.delete(member);
      for (const [member, slot] of slots) lane.slots.set(member, slot);
      lane.window = window;
      order(lane);
      return {
        granted,
        ...(opensInMs !== undefined && { opensInMs }),
        ...(window && { window }),
      };
    },
    use: async (id, ids) => {
      const holds = (member: MessageId): boolean =>
        (lanes.get(id)?.slots.get(member)?.until ?? 0) > now();
      const gone = ids.filter((member) => !holds(member));
      hold(id, ids.filter(holds));
      return gone;
    },
    hold: async (id, ids) => hold(id, ids),
    release: async (id, ids) => {
      const lane = lanes.get(id);
      for (const member of ids) {
        const slot = lane?.slots.get(member);
        if (!lane || !slot) continue;
        lane.slots.delete(member);
        lane.window = withTokenBack(lane.window, slot);
      }
    },
    restore: async (id, holders, window) => {
      const lane = lanes.get(id) ?? { slots: new Map<MessageId, Slot>(), window };
      for (const [member, { granted, until }] of lane.slots)
        if (until <= now() && !granted) lane.slots.delete(member);
      for (const { id: member, leftMs } of holders)
        if (leftMs > 0 && !lane.slots.has(member))
          lane.slots.set(member, { until: now() + Math.min(leftMs, limits.leaseMs) });
      order(lane);
      lanes.set(id, lane);
    },
    resetRate: async (id) => {
      const lane = lanes.get(id);
      const window = newWindow(lane?.window, now());
      if (lane) lane.window = window;
      return window;
    },
    spend: async (name, n, max, lastsMs) => {
      const known = spent.get(name);
      const count = known && !isOver(known.until, lastsMs, now()) ? known.count : 0;
      if (count + n > max) return { isWithin: false, left: Math.max(0, max - count) };
      spent.set(name, { count: count + n, until: now() + lastsMs });
      return { isWithin: true, left: max - count - n };
    },
    peek: async (id) => {
      const lane = lanes.get(id);
      if (!lane) return { slots: 0 };
      const held = [...lane.slots.values()].filter(({ until }) => until > now());
      return { slots: held.length, ...(lane.window && { window: lane.window }) };
    },
  };
  return {
    port,
    flush: () => {
      keys.clear();
      lanes.clear();
      spent.clear();
    },
    flushSlots: () => lanes.clear(),
    forgetKey: (key) => keys.delete(key),
  };
}
