export { type AccountsHarness, describeAccounts } from "./accounts.ts";
export { describeBulkActions } from "./bulk-actions.ts";
export { type DeadLettersHarness, describeDeadLetters } from "./dead-letters.ts";
export { describeEventBus, type EventBusHarness } from "./event-bus.ts";
export { describeGroups, type GroupsHarness } from "./groups.ts";
export { type Deviation } from "./guarantee.ts";
export {
  countedOnce,
  countsSwept,
  describeMessageLog,
  type MessageLogHarness,
} from "./message-log.ts";
export { describeQueues } from "./queues.ts";
export { describeFanOuts } from "./fan-outs.ts";
export { describeRunLog } from "./run-log.ts";
export { describeRecords } from "./records.ts";
export { type RecordsHarness } from "./records/harness.ts";
export { describeReopening } from "./reopening.ts";
export { type ReopeningHarness } from "./reopening-alarms.ts";
export { describeRoster } from "./roster.ts";
export { readAll } from "./paging.ts";
export { describeRuns } from "./runs.ts";
export { describeSchedules, type SchedulesHarness } from "./schedules.ts";
export { type AuditLogHarness, describeAuditLog } from "./audit-log.ts";
export { describeSearchIndexes, type SearchIndexesHarness } from "./search-indexes.ts";
export { describeSender, type SenderHarness } from "./sender.ts";
export { describeTokenStore } from "./token-store.ts";
export { type TokenStoreHarness } from "./token-store/harness.ts";
