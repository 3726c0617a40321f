export {
  type AddressClass,
  type Cidr,
  classify,
  parseAddress,
  parseCidr,
} from "./destination/address.ts";
export {
  type CheckedDestination,
  checkDestination,
  type DestinationUrl,
  isLoopbackName,
  originOf,
} from "./destination/destination.ts";
export {
  addressRefusal,
  allowsLocalNames,
  type DestinationPolicy,
  destinationPolicy,
  type DestinationPolicySettings,
} from "./destination/policy.ts";
export {
  accept,
  acceptClaimed,
  childMessage,
  claimableAtInsert,
  messageOf,
  parentMessage,
} from "./message/accept.ts";
export { alarmOf } from "./message/alarm.ts";
export { callbackMessage, canonicalName, groupedHeaders } from "./message/callback.ts";
export { cancel, type Cancellation } from "./message/cancel.ts";
export { claim, isClaimable } from "./message/claim.ts";
export { type DeadLetter, deadLetterOf } from "./message/dead-letter.ts";
export { expand, type Expansion } from "./message/expand.ts";
export {
  type AttemptFact,
  type CallbackItem,
  type DeadLetterItem,
  type FailureReason,
  type FollowUp,
  type FollowUpKind,
  inWorkingOrder,
} from "./message/follow-up.ts";
export {
  createdEvent,
  eventsOf,
  type LogEvent,
  type LogState,
  logStates,
  rankOf,
} from "./message/log.ts";
export { type HeaderPair, type Headers } from "./message/headers.ts";
export {
  type CallbackPlan,
  type Dialect,
  type FanOut,
  type FinishedKind,
  type InState,
  isFinished,
  isIn,
  type LiveKind,
  type Message,
  type MessageRecord,
  type MessageState,
  type Method,
  methods,
  type Origin,
  type Policy,
  type Redaction,
  type StateKind,
} from "./message/message.ts";
export {
  type Answer,
  type InfrastructureCode,
  isSuccess,
  type Outcome,
  type UnreachableCode,
} from "./message/outcome.ts";
export {
  inheritedRedaction,
  redacted,
  redactedConfiguration,
  redactHeaders,
  redactsHeader,
  type Sha256Hex,
} from "./message/redact.ts";
export { backoffMs, clampRetryDelayMs, deferralMs, requestedWaitMs } from "./message/retry.ts";
export { ring, type Rung } from "./message/ring.ts";
export {
  type Attempt,
  giveBack,
  quarantine,
  settleAttempt,
  type SettleInputs,
  type Settlement,
} from "./message/settle.ts";
export {
  countDispatches,
  type FlowLimits,
  flowPeriodMsDefault,
  rateLeft,
  type RateWindow,
} from "./lane/flow-control.ts";
export { type Lane } from "./lane/lane.ts";
export {
  type Deduplication,
  type Destination,
  type Postponement,
  type PublishCommand,
} from "./publish/command.ts";
export { type DeduplicationKey, deduplicationKeys } from "./publish/deduplication.ts";
export {
  type Endpoint,
  type Group,
  type GroupChunkId,
  groupChunkId,
  groupChunkMax,
  removeEndpoints,
  upsertEndpoints,
} from "./publish/url-group.ts";
export { originHash } from "./shared/origin.ts";
export {
  type DeadLetterFilter,
  type ListOrder,
  type LogFilter,
  type MessageFilter,
  type PageRequest,
} from "./query/filter.ts";
export { parseDuration } from "./shared/duration.ts";
export { fault, type Fault, type FaultCode, isFault } from "./shared/fault.ts";
export { hash32, hashText } from "./shared/hash.ts";
export {
  callbackId,
  childId,
  dlqId,
  type DlqId,
  dlqIdOf,
  failureCallbackId,
  flowLaneId,
  isDerived,
  laneId,
  type LaneId,
  messageId,
  type MessageId,
  owner,
  type Owner,
  parentOf,
  positionOf,
  randomLength,
  randomMessageId,
  shardCount,
  shardOf,
  tenantId,
  type TenantId,
} from "./shared/ids.ts";
export * as limits from "./shared/limits.ts";
export { defaultPlan, type Plan, planBounds, type PlanLimits } from "./shared/plans.ts";
export { Places } from "./shared/places.ts";
export { TurnoverMap } from "./shared/turnover-map.ts";
export { unreachable } from "./shared/unreachable.ts";
