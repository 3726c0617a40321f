/** The documents of the collection `lanes`: one for each flow key in use, keyed by its lane (docs/design/lanes). */
import { type FlowLimits, type FlowId, type RateWindow, type TenantId } from "@posthaste/domain";

export type StoredLane = {
  readonly _id: FlowId;
  readonly tenant: TenantId;
  readonly format?: number;
  readonly key: string;
  readonly shard: number;
  readonly limits: FlowLimits;
  readonly paused?: true;
  readonly pinnedParallelism?: true;
  readonly pinnedRate?: true;
  readonly wakeAt?: number;
  readonly window?: RateWindow;
  /** How often the alarm was set, also by each record that joined: the fence of `rest`. */
  readonly entries: number;
  readonly place?: number;
  /** The store's time at which a record last joined. The sweep removes rows long unused. */
  readonly usedAt: number;
};
