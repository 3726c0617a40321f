/** Dedup windows and flow slots in memory, as one script each in a server that may forget all of it. */
import {
  countDispatches,
  type DeduplicationKey,
  type LaneId,
  limits,
  type MessageId,
  rateLeft,
  type RateWindow,
} from "@posthaste/domain";
import { type TokenStore, type Window } from "@posthaste/ports";

export type ModelTokenStore = {
  readonly port: TokenStore;
  /** Forgets everything. */
  readonly flush: () => void;
  /** Slots live in the memory of one process and go with it; dedup windows are on its disk. */
  readonly flushSlots: () => void;
  /** For a planted bug: what a careless publisher does when its insert failed. */
  readonly forgetKey: (key: DeduplicationKey) => void;
};

type Pending = {
  readonly kind: "pending" | "done";
  readonly id: MessageId;
  readonly until: number;
};
type Slots = { readonly until: Map<MessageId, number>; window: RateWindow | undefined };

const pendingMs = 30_000;

export function modelTokenStore(now: () => number): ModelTokenStore {
  const keys = new Map<DeduplicationKey, Pending>();
  const lanes = new Map<LaneId, Slots>();

  const held = (key: DeduplicationKey): Pending | undefined => {
    const entry = keys.get(key);
    return entry && entry.until > now() ? entry : undefined;
  };
  const live = (lane: Slots): Slots => {
    for (const [id, until] of lane.until) if (until <= now()) lane.until.delete(id);
    return lane;
  };

  const port: TokenStore = {
    claim: async (entries) =>
      entries.map(({ key, id }): Window => {
        const entry = held(key);
        if (entry && entry.id !== id) return { kind: entry.kind, id: entry.id };
        if (!entry) keys.set(key, { kind: "pending", id, until: now() + pendingMs });
        return { kind: "mine" };
      }),
    confirm: async (entries) => {
      for (const { key, id } of entries) {
        const entry = held(key);
        if (entry && entry.id !== id) continue;
        keys.set(key, { kind: "done", id, until: now() + limits.deduplicationMs });
      }
    },
    acquire: async (id, ids, { parallelism = Infinity, ...rate }) => {
      const known = lanes.get(id);
      if (!known) return { granted: [] };
      const lane = live(known);
      const { left, opensAt } = rateLeft(rate, lane.window, now());
      const granted: MessageId[] = [];
      for (const member of ids) {
        if (granted.length >= left || (!lane.until.has(member) && lane.until.size >= parallelism))
          break;
        lane.until.set(member, now() + limits.leaseMs);
        granted.push(member);
      }
      if (rate.rate !== undefined && granted.length > 0)
        lane.window = countDispatches(rate, lane.window, granted.length, now());
      const nextAt = opensAt ?? rateLeft(rate, lane.window, now()).opensAt;
      return {
        granted,
        ...(nextAt !== undefined && { opensAt: nextAt }),
        ...(lane.window && { window: lane.window }),
      };
    },
    renew: async (id, ids) => {
      const known = lanes.get(id);
      const lane = known && live(known);
      return ids.filter((member) => {
        if (!lane?.until.has(member)) return true;
        lane.until.set(member, now() + limits.leaseMs);
        return false;
      });
    },
    release: async (id, ids) => {
      for (const member of ids) lanes.get(id)?.until.delete(member);
    },
    knows: async (id) => lanes.has(id),
    restore: async (id, holders, window) => {
      if (lanes.has(id)) return;
      lanes.set(id, { until: new Map(holders.map((holder) => [holder.id, holder.until])), window });
    },
    peek: async (id) => {
      const known = lanes.get(id);
      if (!known) return { slots: 0 };
      const { until, window } = live(known);
      return { slots: until.size, ...(window && { window }) };
    },
  };
  return {
    port,
    flush: () => {
      keys.clear();
      lanes.clear();
    },
    flushSlots: () => lanes.clear(),
    forgetKey: (key) => keys.delete(key),
  };
}
