import { type Alarms } from "./alarms.ts";
import { type BulkActions } from "./bulk-actions.ts";
import { type FanOuts } from "./fan-outs.ts";
import { type FlowLanes } from "./flow-lanes.ts";
import { type KeptBodies } from "./kept-bodies.ts";
import { type Queues } from "./queues.ts";
import { type Records } from "./records.ts";
import { type RunLog } from "./run-log.ts";
import { type RunStore } from "./run-store.ts";

/**
 * The ports of one store, which keeps them together because its writes may touch several of them at once. A user takes the ports
 * that it needs.
 */
export type RecordPorts = {
  readonly records: Records;
  readonly keptBodies: KeptBodies;
  readonly alarms: Alarms;
  readonly flowLanes: FlowLanes;
  readonly fanOuts: FanOuts;
  readonly queues: Queues;
  readonly bulkActions: BulkActions;
  readonly runs: RunStore;
  readonly runLog: RunLog;
};
