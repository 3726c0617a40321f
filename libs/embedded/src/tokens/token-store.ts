/** The TokenStore port: pending deduplication keys and slots in memory, windows that are done in rows. */
import { type DeduplicationKey, limits, type MessageId, type SlotTime } from "@posthaste/domain";
import {
  type Claim,
  type Clock,
  type DeduplicationEntry,
  StoreError,
  type TokenStore,
  type Window,
} from "@posthaste/ports";
import { type Writer } from "../database/writer.ts";
import { Slots } from "./slots.ts";
import { type SpentRows } from "./spent.ts";
import { type Windows } from "./windows.ts";

/** At this many pending keys, keys that have been pending for this long are dropped, the oldest first: their publishes have failed. */
const pendingMax = 100_000;
const pendingMsMin = 30_000;

/** `until` is a time by `passedMs`. */
type Pending = { readonly id: MessageId; readonly until: number };

export function openTokenStore(
  writer: Writer,
  clock: Clock,
  windows: Windows,
  spent: SpentRows,
): TokenStore {
  const slots = new Slots();
  // In the order of their claims, so the oldest end first.
  const pending = new Map<DeduplicationKey, Pending>();

  const claim = ({ key, id }: DeduplicationEntry): Window => {
    const now = clock.passedMs();
    const done = windows.find(key);
    if (done !== undefined) {
      pending.delete(key);
      return { kind: "done", id: done };
    }
    const current = pending.get(key);
    if (current && current.until > now && current.id !== id)
      return { kind: "pending", id: current.id };
    pending.delete(key);
    makeRoom(pending, now);
    if (pending.size >= pendingMax)
      throw new StoreError("overloaded", "too many publishes wait for deduplication");
    pending.set(key, { id, until: now + limits.deduplicationPendingMsMax });
    return { kind: "mine" };
  };

  const free = ({ key, instead }: Claim): void => {
    if (instead === undefined) return;
    windows.remove({ key, id: instead });
    if (pending.get(key)?.id === instead) pending.delete(key);
  };

  const isConfirmed = ({ key, id }: DeduplicationEntry): boolean => windows.find(key) === id;
  /** Reports whether the entry may be confirmed. An expired key may, since its record exists. */
  const isFree = ({ key, id }: DeduplicationEntry): boolean => {
    const current = pending.get(key);
    return current === undefined || current.id === id || current.until <= clock.passedMs();
  };
  const forget = (entries: readonly DeduplicationEntry[]): void => {
    for (const { key, id } of entries) if (pending.get(key)?.id === id) pending.delete(key);
  };

  return {
    claim: (entries) =>
      entries.some(({ instead }) => instead !== undefined)
        ? writer.write(() => {
            entries.forEach(free);
            return entries.map(claim);
          }, "new")
        : writer.read(() => entries.map(claim)),
    confirm: async (entries) => {
      // The insert has already written its windows.
      const missing = entries.filter((entry) => !isConfirmed(entry) && isFree(entry));
      if (missing.length > 0) await writer.write(() => windows.put(missing), "accepted");
      forget(entries);
    },
    acquire: async (lane, ids, flow) => slots.acquire(lane, ids, flow, timeOf(clock)),
    use: async (lane, ids) => slots.use(lane, ids, clock.passedMs()),
    hold: async (lane, ids) => slots.hold(lane, ids, clock.passedMs()),
    release: async (lane, ids) => slots.release(lane, ids),
    restore: async (lane, holders, window) => slots.restore(lane, holders, window, timeOf(clock)),
    resetRate: async (lane) => slots.resetRate(lane, clock.now()),
    spend: (...given) => writer.write(() => spent.spend(...given), "redoable"),
    peek: async (lane) => slots.peek(lane, clock.passedMs()),
  };
}

const timeOf = (clock: Clock): SlotTime => ({ now: clock.now(), passedMs: clock.passedMs() });

function makeRoom(pending: Map<DeduplicationKey, Pending>, passedMs: number): void {
  for (const [key, { until }] of pending) {
    const since = until - limits.deduplicationPendingMsMax;
    const mayGo = pending.size >= pendingMax && since + pendingMsMin <= passedMs;
    if (until > passedMs && !mayGo) return;
    pending.delete(key);
  }
}
