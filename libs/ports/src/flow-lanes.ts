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
  /** Of a tenant, in the order of their keys: at most `limit` whose key has `search` in it. */
  list(tenant: TenantId, search: string, limit: number): Promise<readonly FlowLane[]>;
  /** How many messages wait in each line; a lane without any is missing. A tenant's backlog is the bound. */
  waiting(ids: readonly FlowId[]): Promise<ReadonlyMap<FlowId, number>>;
  /** Makes the row where there is none. A grant that reads it from now on gives nothing. */
  pause(flow: Flow): Promise<void>;
  /** Makes the row where there is none. Sets the lane's alarm to now in the same write. */
  resume(flow: Flow): Promise<void>;
  /** Makes the row where there is none, sets what is pinned, and the lane's alarm to now. Publishes leave it from now on. */
  pin(flow: Flow, pinned: Pinned): Promise<void>;
  /** False: there is no such lane. What was pinned keeps its value until the next publish. */
  unpin(id: FlowId, parts: Pins): Promise<boolean>;
  /** The first `n` in line. */
  heads(lane: FlowId, n: number): Promise<readonly Hint[]>;
  /** waiting → due with a grant; answers those of `ids` that were still waiting. The lane's row has `window` by then (docs/design/lanes#grants). */
  promote(
    lane: FlowId,
    ids: readonly MessageId[],
    grantUntil: number,
    window?: RateWindow,
  ): Promise<readonly MessageId[]>;
  /** The lane's row has `window` from now on, for a token store that forgets. */
  keepWindow(lane: FlowId, window: RateWindow): Promise<void>;
  /** After granting: sets the lane's alarm and rate window, if nothing has set its alarm since `seq` was read. */
  rest(
    lane: FlowId,
    seq: number,
    wakeAt: number | undefined,
    window: RateWindow | undefined,
  ): Promise<boolean>;
  /** Records of a lane that may hold a slot: claimed, or promoted with their grant ahead; `until` is when that ends. */
  slotHolders(lane: FlowId): Promise<readonly { readonly id: MessageId; readonly until: number }[]>;
}
