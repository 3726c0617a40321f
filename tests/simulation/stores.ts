/** The storage ports of one process. */
import {
  type DeadLetters,
  type Groups,
  type Ids,
  type MessageLog,
  type RecordPorts,
  type Roster,
  type Schedules,
} from "@posthaste/ports";
import { type Life } from "./world/node.ts";
import {
  observedAlarms,
  observedDeadLetters,
  observedFanOuts,
  observedFlowLanes,
  observedMessageLog,
  observedQueues,
  observedRecords,
  observedRuns,
  observedSchedules,
  type Watching,
} from "./world/observed.ts";

export type Stores = RecordPorts & {
  readonly deadLetters: DeadLetters;
  readonly messageLog: MessageLog;
  readonly groups: Groups;
  readonly schedules: Schedules;
  readonly roster: Roster;
  readonly ids: Ids;
};

/** Returns the ports of a store that does each call in one step, over the wire of this process. */
export const storesBehind = (life: Life, stores: Stores, watching: Watching): Stores => ({
  records: life.remote("records", observedRecords(stores.records, watching)),
  alarms: life.remote("alarms", observedAlarms(stores.alarms, watching)),
  flowLanes: life.remote("flowLanes", observedFlowLanes(stores.flowLanes, watching)),
  queues: life.remote("queues", observedQueues(stores.queues, watching)),
  fanOuts: life.remote("fanOuts", observedFanOuts(stores.fanOuts, watching)),
  bulkActions: life.remote("bulkActions", stores.bulkActions),
  runs: life.remote("runs", observedRuns(stores.runs, watching)),
  runLog: life.remote("runLog", stores.runLog),
  keptBodies: life.remote("keptBodies", stores.keptBodies),
  deadLetters: life.remote("deadLetters", observedDeadLetters(stores.deadLetters, watching)),
  groups: life.remote("groups", stores.groups),
  schedules: life.remote("schedules", observedSchedules(stores.schedules, watching)),
  messageLog: life.remote("messageLog", observedMessageLog(stores.messageLog, watching)),
  roster: life.remote("roster", stores.roster),
  ids: stores.ids,
});
