import { type Accounts } from "./accounts.ts";
import { type Alarms } from "./alarms.ts";
import { type AuditLog } from "./audit-log.ts";
import { type BulkActions } from "./bulk-actions.ts";
import { type DeadLetters } from "./dead-letters.ts";
import { type FanOuts } from "./fan-outs.ts";
import { type FlowLanes } from "./flow-lanes.ts";
import { type Groups } from "./groups.ts";
import { type Ids } from "./ids.ts";
import { type KeptBodies } from "./kept-bodies.ts";
import { type MessageLog } from "./message-log.ts";
import { type Queues } from "./queues.ts";
import { type Records } from "./records.ts";
import { type RunLog } from "./run-log.ts";
import { type RunStore } from "./run-store.ts";
import { type Schedules } from "./schedules.ts";
import { type SearchIndexes } from "./search-indexes.ts";
import { type Sizes } from "./sizes.ts";

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

/** All ports of one store. */
export type StorePorts = RecordPorts & {
  readonly ids: Ids;
  readonly deadLetters: DeadLetters;
  readonly groups: Groups;
  readonly schedules: Schedules;
  readonly messageLog: MessageLog;
  readonly accounts: Accounts;
  readonly indexes: SearchIndexes;
  readonly auditLog: AuditLog;
  readonly sizes: Sizes;
};
