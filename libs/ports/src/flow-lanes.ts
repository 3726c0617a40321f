/** The lanes of flow keys: their rows, and the lines of records that wait in them (docs/design/lanes). */
import {
  type Flow,
  type FlowId,
  type FlowLane,
  type MessageId,
  type Pinned,
  type Pins,
  type RateWindow,
  type TenantId,
} from "@posthaste/domain";
import { type Hint } from "./records.ts";

export interface FlowLanes {
  rows(ids: readonly FlowId[]): Promise<readonly FlowLane[]>;
  /** Returns at most `limit` lanes of a tenant whose key contains `search`, in key order. */
  list(tenant: TenantId, search: string, limit: number): Promise<readonly FlowLane[]>;
  /** Counts the messages that wait in each lane; lanes without any are absent. A tenant's backlog bounds the count. */
  waiting(ids: readonly FlowId[]): Promise<ReadonlyMap<FlowId, number>>;
  /** Pauses a lane, and makes its row if there is none. A grant that reads the row from now on grants nothing. */
  pause(flow: Flow): Promise<void>;
  /** Resumes a lane, and makes its row if there is none. Sets the lane's alarm to now in the same write. */
  resume(flow: Flow): Promise<void>;
  /**
   * Pins limits of a lane, makes its row where there is none, and sets the lane's alarm to now. Publishes no longer change pinned
   * limits.
   */
  pin(flow: Flow, pinned: Pinned): Promise<void>;
  /** Unpins limits, which keep their values until the next publish. Returns false when there is no such lane. */
  unpin(id: FlowId, parts: Pins): Promise<boolean>;
  heads(lane: FlowId, n: number): Promise<readonly Hint[]>;
  /**
   * Moves records from waiting to due, with a grant. Returns the ids that were still waiting. Stores `window` in the lane's row
   * before (docs/design/lanes#grants).
   */
  promote(
    lane: FlowId,
    ids: readonly MessageId[],
    grantUntil: number,
    window?: RateWindow,
  ): Promise<readonly MessageId[]>;
  /** Stores `window` in the lane's row, for a token store that forgets. */
  keepWindow(lane: FlowId, window: RateWindow): Promise<void>;
  /** Sets the lane's alarm and rate window after a grant, unless its alarm was set after `seq` was read. */
  rest(
    lane: FlowId,
    seq: number,
    wakeAt: number | undefined,
    window: RateWindow | undefined,
  ): Promise<boolean>;
  /**
   * Returns the records of a lane that may hold a slot: claimed, or promoted with an unexpired grant. `until` is when lease or
   * grant ends.
   */
  slotHolders(lane: FlowId): Promise<readonly { readonly id: MessageId; readonly until: number }[]>;
}
