export { type DeadLetterFilter, type LogFilter, type PageRequest } from "@posthaste/domain";
export {
  type Accounts,
  type SigningKeys,
  type Tenant,
  type Token,
  type TokenScope,
} from "./accounts.ts";
export { type Clock } from "./clock.ts";
export { type DeadLetters } from "./dead-letters.ts";
export {
  type EventBus,
  type Handler,
  type SettledEvent,
  type SubscribeOptions,
  type Topic,
  type Topics,
  type WakeEvent,
} from "./event-bus.ts";
export { type Groups } from "./groups.ts";
export { type Ids } from "./ids.ts";
export { type LocalDelivery } from "./local-delivery.ts";
export { type Log, type LogFields } from "./log.ts";
export { type LogEntry, type MessageLog, type Page } from "./message-log.ts";
export {
  type Canceled,
  type DeduplicationEntry,
  type Hint,
  type Insert,
  type Inserted,
  type LaneRow,
  type MessageStore,
  type OutboxItemRef,
  type Rings,
  type Settled,
} from "./message-store.ts";
export {
  countedMax,
  type HistogramName,
  type Metric,
  metricCatalogue,
  type MetricName,
  type Metrics,
  noMetrics,
  type Reading,
  type Reporter,
  type WatchedName,
} from "./metrics.ts";
export { type Random } from "./random.ts";
export { type RetryDelays } from "./retry-delays.ts";
export {
  type SearchIndex,
  type SearchIndexes,
  type SearchIndexLimits,
  type SearchIndexRegion,
  type SearchIndexType,
  type ThroughputSample,
} from "./search-indexes.ts";
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
} from "./tracer.ts";
export { type OutgoingRequest, type Sender, type Sending } from "./sender.ts";
export { isStoreError, StoreError, type StoreErrorCode, untilAvailable } from "./store-error.ts";
export { type Acquired, type TokenStore, type Window } from "./token-store.ts";
