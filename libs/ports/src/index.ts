export { type DeadLetterFilter, type LogFilter, type PageRequest } from "@posthaste/domain";
export {
  type AccountChanges,
  type Accounts,
  type AccountsMark,
  type SecretAccounts,
  type SigningKeys,
  type Tenant,
  type TenantAccounts,
  type Token,
  type TokenAccounts,
} from "./accounts.ts";
export { type Actor, type AuditEntry, type AuditLog, type AuditPage } from "./audit-log.ts";
export {
  type AccountFollower,
  type ChangedAccounts,
  changedTenantsMax,
  changesOf,
  followAccounts,
  noChangedAccounts,
  tenantPages,
  tokenPages,
  withChanged,
} from "./account-changes.ts";
export { type Alarms, type Rings, type Rung } from "./alarms.ts";
export { type Clock, endsWithin, pause, watchSetBack, watchSetting, within } from "./clock.ts";
export { type DeadLetters } from "./dead-letters.ts";
export {
  type EventBus,
  type Handler,
  isFact,
  type SettledEvent,
  type SubscribeOptions,
  type Topic,
  type Topics,
  topics,
  type WakeEvent,
} from "./bus.ts";
export { type FanOuts } from "./fan-outs.ts";
export { type FlowLanes } from "./flow-lanes.ts";
export { type BulkActionPage, type BulkActionPlace, type BulkActions } from "./bulk-actions.ts";
export {
  type ScheduleKey,
  type SchedulePage,
  type SchedulePlace,
  type Schedules,
} from "./schedules.ts";
export { type Groups } from "./groups.ts";
export { type Ids } from "./ids.ts";
export { type Intake } from "./intake.ts";
export { type KeptBodies } from "./kept-bodies.ts";
export { type AddedEntry, type LocalDelivery, type LocalPlace } from "./local-delivery.ts";
export { type Log, type LogFields } from "./log.ts";
export { type LogEntry, type MessageLog, type MinuteCounts, type Page } from "./message-log.ts";
export { type Metric, type Reporter } from "./metrics/metric.ts";
export {
  countedMax,
  type HistogramName,
  metricCatalogue,
  type MetricName,
  type Metrics,
  noMetrics,
  type Reading,
  type WatchedName,
} from "./metrics/metrics.ts";
export {
  type Admitted,
  type Changed,
  type Ending,
  type Queue,
  type QueueChange,
  type Queues,
  type TakenBack,
} from "./queues.ts";
export { type Random } from "./random.ts";
export { type NamedDelivery, type Roster, type RosterEntry } from "./roster.ts";
export { type RunningCalls } from "./running-calls.ts";
export { type Need, type Readiness } from "./readiness.ts";
export { type RecordPorts, type StorePorts } from "./record-ports.ts";
export {
  type Canceled,
  type Dropped,
  type DeduplicationEntry,
  type Hint,
  type Insert,
  type Inserted,
  type OutboxItemRef,
  type Records,
  type Released,
  type Settled,
  type Some,
  type Walk,
  type ClaimRef,
  type Walked,
} from "./records.ts";
export { type RetryDelays } from "./retry-delays.ts";
export {
  indexPages,
  type SearchIndex,
  type SearchIndexes,
  type SearchIndexLimits,
} from "./search-indexes.ts";
export { type Service } from "./service.ts";
export { type Sizes } from "./sizes.ts";
export { noTelemetry, type Telemetry } from "./telemetry.ts";
export {
  type Attributes,
  causeOf,
  noTracer,
  type Span,
  type SpanKind,
  type SpanOptions,
  type TraceParent,
  type Tracer,
  traceFields,
} from "./tracer.ts";
export { type OutgoingRequest, type Sender, type Sending } from "./sender.ts";
export {
  isStoreError,
  RefusedError,
  StoreError,
  requireKnownFormat,
  untilAvailable,
} from "./store-error.ts";
export {
  type Claim,
  type Acquired,
  type SlotHolder,
  type Spent,
  type TokenStore,
  type Window,
} from "./token-store.ts";
export { type RunLog, type RunPage, type PartsPage } from "./run-log.ts";
export {
  type BriefFor,
  type Briefing,
  type Decision,
  headAlone,
  headIfChanged,
  type Inherited,
  type NextUse,
  type RunAddress,
  type RunStore,
  type RunWrite,
  type StartedRun,
} from "./run-store.ts";
