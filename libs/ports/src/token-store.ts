/** Dedup windows and flow slots: what may be forgotten. Nothing that was acknowledged is lost when it is. */
import { type FlowLimits, type LaneId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type DeduplicationEntry } from "./message-store.ts";

export type Window =
  | { readonly kind: "mine" }
  /** Another publish is about to insert under this id. */
  | { readonly kind: "pending"; readonly id: MessageId }
  /** Accepted inside the window. */
  | { readonly kind: "done"; readonly id: MessageId };

export type Acquired = {
  readonly granted: readonly MessageId[];
  /** When the rate window opens again, if it was the limit. */
  readonly opensAt?: number;
  readonly window?: RateWindow;
};

export interface TokenStore {
  /** One call for all keys of a publish. A key stays pending for 30 s and is never deleted on error (P10). */
  claim(entries: readonly DeduplicationEntry[]): Promise<readonly Window[]>;
  /** pending → done for 10 minutes; a key that holds another id is left as it is. */
  confirm(entries: readonly DeduplicationEntry[]): Promise<void>;
  /**
   * Of `ids`, in order, those that get a slot and a rate token now. Slots are leases of `leaseMs`: they cannot leak. A
   * lane that is not known grants nothing: it may have been forgotten since it was looked at.
   */
  acquire(lane: LaneId, ids: readonly MessageId[], limits: FlowLimits): Promise<Acquired>;
  /** Extends slots; answers those that were gone. */
  renew(lane: LaneId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  release(lane: LaneId, ids: readonly MessageId[]): Promise<void>;
  /** False after a flush, and until `restore`. */
  knows(lane: LaneId): Promise<boolean>;
  restore(
    lane: LaneId,
    holders: readonly { readonly id: MessageId; readonly until: number }[],
    window: RateWindow | undefined,
  ): Promise<void>;
  peek(lane: LaneId): Promise<{ readonly slots: number; readonly window?: RateWindow }>;
}
