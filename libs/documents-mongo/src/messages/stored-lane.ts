/** A lane as the store holds it. */
import { type FlowLimits, type FlowId, type RateWindow, type TenantId } from "@posthaste/domain";

export type StoredLane = {
  readonly _id: FlowId;
  readonly tenant: TenantId;
  /** Where it is above 1. */
  readonly format?: number;
  readonly key: string;
  readonly shard: number;
  readonly limits: FlowLimits;
  /** Where it is. */
  readonly paused?: true;
  readonly pinnedParallelism?: true;
  /** And the period. */
  readonly pinnedRate?: true;
  readonly wakeAt?: number;
  readonly window?: RateWindow;
  /** How often the alarm was set, as it is when a record joins the line: the fence of `rest`. */
  readonly entries: number;
  /** The last place given. */
  readonly place?: number;
  /** The store's time when a record last joined: rows long unused are swept. */
  readonly usedAt: number;
};
