export {
  type SearchIndexRegion,
  searchIndexRegions,
  type SearchIndexType,
  searchIndexTypes,
} from "./search-indexes.ts";
export {
  type GroupRight,
  isChanging,
  isTokenScope,
  type OperationKind,
  refusalOfScope,
  scopesFor,
  type TokenScope,
  tokenScopeFrom,
  tokenScopePattern,
} from "./token-scope.ts";
export { type OperatorRole, operatorRoles, refusalOfRole, rolesFor } from "./operator-role.ts";
export { cutAtCharacter } from "./cut.ts";
export { parseDuration } from "./duration.ts";
export { type ExceededRate, fault, type Fault, type FaultCode, isFault } from "./fault.ts";
export { isKnownFormat, ownFormat } from "./format.ts";
export { hash32 } from "./hash.ts";
export { nearestName } from "./nearest-name.ts";
export {
  callbackId,
  callsOf,
  childId,
  dlqId,
  type DlqId,
  dlqIdOf,
  failureCallbackId,
  flowId,
  flowLaneId,
  isDerived,
  isQueueId,
  tenantOfLane,
  type LaneId,
  type FlowId,
  messageId,
  type MessageId,
  owner,
  type Owner,
  parentOf,
  positionOf,
  queueId,
  type QueueId,
  runId,
  type RunId,
  runKey,
  type RunKey,
  runMessageId,
  randomLength,
  randomMessageId,
  bulkActionId,
  type BulkActionId,
  scheduleId,
  type ScheduleId,
  slotId,
  tenantId,
  type TenantId,
} from "./ids.ts";
export {
  completePlan,
  defaultPlan,
  limitOf,
  type Plan,
  planBounds,
  type PlanLimits,
  timeoutMsOf,
} from "./plans.ts";
export { Places } from "./places.ts";
export { beyondQuota, tooManyEndpoints, tooManyGroups, tooManyQueues } from "./quota.ts";
export {
  type EndedSessions,
  endedSessionsFrom,
  endedSessionsText,
  isSessionOpen,
  noEndedSessions,
  type SessionMade,
  sessionMs,
  withSessionEnded,
} from "./sessions.ts";
export { allShards, shardCount, shardOf } from "./shards.ts";
export { shareOf, wholeOf } from "./shares.ts";
export { type Share, Shares } from "./shares.ts";
export {
  elapsedMs,
  tooFarAheadAfter,
  cutOff,
  isTooFarAhead,
  isOver,
  leaseNow,
  leftMs,
  skewMsMax,
  untilMs,
} from "./time.ts";
export { TextCache } from "./text-cache.ts";
export { TurnoverMap } from "./turnover-map.ts";
export { RoundRobin } from "./round-robin.ts";
export { unreachable } from "./unreachable.ts";
