/** Deduplication windows and flow slots, which may be forgotten. Forgetting them loses nothing that was acknowledged. */
import { type FlowLimits, type FlowId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type DeduplicationEntry } from "./records.ts";

export type Window =
  | { readonly kind: "mine" }
  /** Another publish is about to insert under this id. */
  | { readonly kind: "pending"; readonly id: MessageId }
  /** Accepted inside the window. */
  | { readonly kind: "done"; readonly id: MessageId };

/** `instead`: the id of a message or run that no longer keeps its key, such as a cancelled one; a key that names it is free. */
export type Claim = DeduplicationEntry & { readonly instead?: MessageId };

export type Acquired = {
  readonly granted: readonly MessageId[];
  /** Milliseconds until the rate window opens again, if the rate was the limit. A duration, since the store has a clock of its own. */
  readonly opensInMs?: number;
  readonly window?: RateWindow;
  /** The lane grants nothing before `restore`. */
  readonly isUnknown?: true;
};

/** A message that may hold a slot, and for how many milliseconds yet. */
export type SlotHolder = { readonly id: MessageId; readonly leftMs: number };

export type Spent = { readonly isWithin: boolean; readonly left: number };

export interface TokenStore {
  /**
   * Claims all keys of a publish in one call. A key stays pending for `limits.deduplicationPendingMsMax` and is never deleted on
   * error (docs/design/deduplication#take-over).
   */
  claim(entries: readonly Claim[]): Promise<readonly Window[]>;
  /**
   * Marks keys as done for 10 minutes, from pending or gone, once the record is inserted. A key that holds another id stays
   * unchanged.
   */
  confirm(entries: readonly DeduplicationEntry[]): Promise<void>;
  /**
   * Grants a slot and a rate token to as many of `ids` as possible, in order; a message that has both unused gets them again
   * free. Slots are leases of `leaseMs`, so they cannot leak. A slot that goes unused gives its token back. A lane is unknown
   * before `restore`, after a flush, and once a slot in use has expired: its call may still run, which only the records show.
   */
  acquire(lane: FlowId, ids: readonly MessageId[], limits: FlowLimits): Promise<Acquired>;
  /** Extends the slots of messages whose calls begin now, and spends their tokens. Returns the ids whose slots were gone. */
  use(lane: FlowId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Extends the slots of messages whose calls run on leases proven just now, and puts back slots that were gone. */
  hold(lane: FlowId, ids: readonly MessageId[]): Promise<void>;
  release(lane: FlowId, ids: readonly MessageId[]): Promise<void>;
  /** Makes a lane known. Keeps the slots that the store already has. */
  restore(
    lane: FlowId,
    holders: readonly SlotHolder[],
    window: RateWindow | undefined,
  ): Promise<void>;
  /** Begins a rate window now, with a count of zero. Tokens of earlier grants are not given back. */
  resetRate(lane: FlowId): Promise<RateWindow>;
  /**
   * Adds `n` to a named count, unless the sum would exceed `max`. The count may be forgotten `lastsMs` after the last call. A
   * negative `n` gives back.
   */
  spend(name: string, n: number, max: number, lastsMs: number): Promise<Spent>;
  peek(lane: FlowId): Promise<{ readonly slots: number; readonly window?: RateWindow }>;
}
