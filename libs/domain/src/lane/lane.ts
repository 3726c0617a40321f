/** A lane: an ordered line with limits. In this form a flow-control key; its row has the alarm of all who wait in it (I3). */
import { type LaneId, type TenantId } from "../shared/ids.ts";
import { type FlowLimits, type RateWindow } from "./flow-control.ts";

export type Lane = {
  readonly id: LaneId;
  readonly tenant: TenantId;
  readonly key: string;
  readonly shard: number;
  /** Of the most recent publish: they hold for messages that already wait, too. */
  readonly limits: FlowLimits;
  readonly wakeAt: number | undefined;
  /** Kept with each batch of grants, so that a token store that forgot can be told (decisions.md 11). */
  readonly window: RateWindow | undefined;
};
