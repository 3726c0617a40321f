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
export { portionOf, portionsOf } from "./portions.ts";
export { nearestName } from "./nearest-name.ts";
export {
  allShards,
  bulkActionId,
  type BulkActionId,
  callbackId,
  callsOf,
  childId,
  dlqId,
  type DlqId,
  dlqIdOf,
  failureCallbackId,
  flowId,
  type FlowId,
  flowLaneId,
  hash32,
  isDerived,
  isQueueId,
  type LaneId,
  messageId,
  type MessageId,
  owner,
  type Owner,
  parentOf,
  positionOf,
  queueId,
  queueNameOf,
  type QueueId,
  randomLength,
  randomMessageId,
  runId,
  type RunId,
  runKey,
  type RunKey,
  runMessageId,
  scheduleId,
  type ScheduleId,
  shardCount,
  shardOf,
  slotId,
  tenantId,
  type TenantId,
  tenantOfLane,
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
export { Places, TurnoverMap } from "./turnover-map.ts";
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
export { RoundRobin } from "./round-robin.ts";
export { unreachable } from "./unreachable.ts";
