/** Dedup windows and flow slots: what may be forgotten. Nothing that was acknowledged is lost when it is. */
import { type FlowLimits, type FlowId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type DeduplicationEntry } from "./records.ts";

export type Window =
  | { readonly kind: "mine" }
  /** Another publish is about to insert under this id. */
  | { readonly kind: "pending"; readonly id: MessageId }
  /** Accepted inside the window. */
  | { readonly kind: "done"; readonly id: MessageId };

/** `instead`: the id whose work is gone; a key that names it is free. */
export type Claim = DeduplicationEntry & { readonly instead?: MessageId };

export type Acquired = {
  readonly granted: readonly MessageId[];
  /** How long until the rate window opens again, if it was the limit. No time of day: the store's clock is its own. */
  readonly opensInMs?: number;
  readonly window?: RateWindow;
  /** Nothing is granted before `restore`. */
  readonly isUnknown?: true;
};

/** A message that may hold a slot, and for how long yet. */
export type SlotHolder = { readonly id: MessageId; readonly leftMs: number };

export type Spent = { readonly isWithin: boolean; readonly left: number };

export interface TokenStore {
  /** One call for all keys of a publish. A key stays pending for `limits.deduplicationPendingMsMax` and is never deleted on error (docs/design/deduplication#take-over). */
  claim(entries: readonly Claim[]): Promise<readonly Window[]>;
  /** The record is inserted: pending, or gone → done for 10 minutes; a key that holds another id is left as it is. */
  confirm(entries: readonly DeduplicationEntry[]): Promise<void>;
  /**
   * Of `ids`, in order, those that get a slot and a rate token now; one that has both unused gets them again free. Slots
   * are leases of `leaseMs`: they cannot leak. One that goes unused gives its token back. A lane is unknown before it is
   * told, after a flush, and once a slot has ended in use: its call may still run, as only the records can tell.
   */
  acquire(lane: FlowId, ids: readonly MessageId[], limits: FlowLimits): Promise<Acquired>;
  /** Their calls begin now: extends the slots, whose tokens are spent. Answers those that were gone. */
  use(lane: FlowId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Their calls run, on leases that were proven just now: extends the slots, and puts back those that were gone. */
  hold(lane: FlowId, ids: readonly MessageId[]): Promise<void>;
  release(lane: FlowId, ids: readonly MessageId[]): Promise<void>;
  /** Makes a lane known. What the store knows by itself is kept. */
  restore(
    lane: FlowId,
    holders: readonly SlotHolder[],
    window: RateWindow | undefined,
  ): Promise<void>;
  /** Begins a rate window now, with nothing counted in it. Tokens of grants before it do not come back. */
  resetRate(lane: FlowId): Promise<RateWindow>;
  /** Counts `n` more under a name, unless they were more than `max` together; what is counted may be forgotten `lastsMs` after the last. A negative `n` gives back. */
  spend(name: string, n: number, max: number, lastsMs: number): Promise<Spent>;
  peek(lane: FlowId): Promise<{ readonly slots: number; readonly window?: RateWindow }>;
}
