/** A lane as the store holds it. */
import { type FlowLimits, type LaneId, type RateWindow, type TenantId } from "@posthaste/domain";

export type StoredLane = {
  readonly _id: LaneId;
  readonly tenant: TenantId;
  readonly key: string;
  readonly shard: number;
  readonly limits: FlowLimits;
  readonly wakeAt?: number;
  readonly window?: RateWindow;
  /** How often somebody got into line: the fence of `rest`. */
  readonly entries: number;
  /** The last place given. */
  readonly place?: number;
  /** The store's time when somebody last got in: rows long unused are swept. */
  readonly usedAt: number;
};
