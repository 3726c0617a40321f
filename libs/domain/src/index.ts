export {
  advanced,
  type BulkAction,
  bulkBeginning,
  type BulkEnd,
  type BulkPlace,
  type BulkWork,
  bulkWorkText,
  handedOn,
  isUnderWay,
  newBulkAction,
} from "./bulk/bulk-action.ts";
export {
  type AddressClass,
  type Cidr,
  classify,
  networkOf,
  parseAddress,
  parseCidr,
} from "./destination/address.ts";
export {
  type CheckedDestination,
  checkDestination,
  type DestinationUrl,
  isLoopbackName,
} from "./destination/destination.ts";
export { originHash } from "./destination/origin.ts";
export {
  addressRefusal,
  allowsLocalNames,
  type DestinationPolicy,
  destinationPolicy,
  type DestinationPolicySettings,
} from "./destination/policy.ts";
export {
  type DestinationText,
  hasScheme,
  invalidScheme,
  looksLikeHost,
  readUrl,
  refusedUrl,
  standardUrl,
} from "./destination/url.ts";
export {
  accept,
  acceptClaimed,
  acceptGranted,
  acceptNamed,
  isNamed,
  mayBeNamed,
  claimableAtInsert,
  messageOf,
  needsSlotAlone,
} from "./message/accept.ts";
export {
  alarmOf,
  alarmOnEntering,
  type AlarmSource,
  alarmSources,
  dueSince,
  recordSources,
  type RecordSource,
  rowSources,
  type RowSource,
  sourceOf,
} from "./message/alarm.ts";
export {
  callbackBody,
  callbackMessage,
  canonicalName,
  groupedHeaders,
} from "./message/callback.ts";
export { cancel, type Cancellation, dropped } from "./message/cancel.ts";
export { claim, isClaimable, lossOf } from "./message/claim.ts";
export { promote, type Promotion } from "./message/promote.ts";
export { type DeadLetter, deadLetterOf } from "./message/dead-letter.ts";
export { expand, type Expansion } from "./fan-out/expand.ts";
export {
  advanceTo,
  childOf,
  type Expanding,
  type FanOut,
  fanOutOf,
  type FanOutTarget,
  flowsOf,
  isExpanding,
  type Template,
} from "./fan-out/fan-out.ts";
export {
  answerOfFact,
  type AttemptFact,
  type CallbackItem,
  type DeadLetterItem,
  type FailureReason,
  failureReasons,
  type FollowUp,
  type FollowUpKind,
  followUpKinds,
  type FollowUpOf,
  type RunFailureReason,
  type RunItem,
} from "./message/follow-up.ts";
export { broughtHome } from "./message/home.ts";
export {
  createdEvent,
  eventsOf,
  type LogEvent,
  type LogState,
  logStates,
  tellsFact,
  minuteMs,
  minuteOf,
  rankOf,
} from "./message/log.ts";
export { type HeaderPair, type Headers } from "./message/headers.ts";
export {
  type Api,
  type CallbackPlan,
  type Dialect,
  dialects,
  finishedKinds,
  liveKinds,
  type FinishedKind,
  type InRun,
  type InState,
  isFinished,
  isIn,
  type LiveKind,
  type Configuration,
  type Message,
  type MessageRecord,
  type MessageState,
  type Method,
  methods,
  type Origin,
  type Policy,
  type Progress,
  progressOf,
  type Redaction,
  type StateKind,
  type TurnOf,
} from "./message/message.ts";
export {
  type Answer,
  asResult,
  type BrokenBy,
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
export { changedFlow, faultOfFlow } from "./message/flow-change.ts";
export { idOfRetriedLetter, type Overrides, retriedMessage } from "./message/retried-letter.ts";
export { backoffMs, clampRetryDelayMs, deferralMs, requestedWaitMs } from "./message/retry.ts";
export { release, type Release } from "./message/release.ts";
export { ring, type Ringing } from "./message/ring.ts";
export {
  type Attempt,
  giveBack,
  over,
  postpone,
  quarantine,
  owedFact,
  owedToLog,
  settleAttempt,
  type SettleInputs,
  type Settlement,
} from "./message/settle.ts";
export { configurationBytes, sentBytes, sizeOf } from "./message/size.ts";
export { isDone, mayTakeBack, takeTurn, type Turn, takenBackEpoch } from "./message/turn.ts";
export {
  areSameLimits,
  countDispatches,
  type FlowLimits,
  flowPeriodMsDefault,
  isWindowOver,
  newWindow,
  rateLeft,
  type RateWindow,
} from "./lane/flow-control.ts";
export { type Flow, flowByHand, flowOf, flowsSetBy } from "./lane/flow.ts";
export { openLimits } from "./lane/open.ts";
export {
  type Limited,
  limitsPublished,
  noPins,
  pin,
  type Pinned,
  type Pins,
  unpin,
} from "./lane/pins.ts";
export { isForeign, shardOfMessage } from "./lane/gates.ts";
export { type FlowLane, isForgettable, type LaneKind, type QueueLane } from "./lane/lane.ts";
export { freeTurns, queueParallelismDefault } from "./lane/queue.ts";
export {
  endedSlots,
  type Slot,
  type Slots,
  type SlotTime,
  takeSlots,
  withTokenBack,
} from "./lane/slots.ts";
export {
  type Deduplication,
  type Destination,
  type Postponement,
  notBeforeOf,
  notBeforeOfStep,
  type PublishCommand,
  type RunPublish,
} from "./publish/command.ts";
export {
  type DeduplicationKey,
  deduplicationKeyOf,
  deduplicationKeys,
  keysOfEndpoints,
  keepsKey,
  scheduleContent,
} from "./publish/deduplication.ts";
export {
  type Endpoint,
  type Group,
  type GroupChunkId,
  groupChangedAt,
  groupChunkId,
  groupChunkMax,
  removeEndpoints,
  upsertEndpoints,
} from "./publish/url-group.ts";
export {
  type DeadLetterFilter,
  type LiveFilter,
  type ListOrder,
  listOrders,
  type LogFilter,
  type MessageFilter,
  type PageRequest,
} from "./query/filter.ts";
export {
  type ActiveRunFilter,
  type FailedRunFilter,
  matchesFailedRun,
  matchesRun,
  type RunFilter,
  type RunUse,
} from "./query/run-filter.ts";
export { matchesLetter, matchesLive, matchesLogged, placeOfUrl } from "./query/matches.ts";
export { UnknownField } from "./query/terms.ts";
export { type Cron, isKnownCron, parseCron, storedCron } from "./schedule/cron.ts";
export { commandAt, fired, type Firing, firingOf } from "./schedule/fire.ts";
export { nextSlot } from "./schedule/next-slot.ts";
export {
  changed,
  type LastSlot,
  newSchedule,
  paused,
  replaced,
  resumed,
  type Schedule,
  type ScheduleCommand,
  type ScheduleTemplate,
  scheduleUidLength,
  stopped,
  type WholeSchedule,
} from "./schedule/schedule.ts";
export {
  type SearchIndexRegion,
  searchIndexRegions,
  type SearchIndexType,
  searchIndexTypes,
} from "./shared/accounts.ts";
export {
  isTokenScope,
  type OperationKind,
  queueScope,
  refusalOfScope,
  scopesFor,
  type TokenScope,
  tokenScopeFrom,
  tokenScopePattern,
} from "./shared/token-scope.ts";
export { parseDuration } from "./shared/duration.ts";
export { type ExceededRate, fault, type Fault, type FaultCode, isFault } from "./shared/fault.ts";
export { apartFormat, isUnderstood, ownFormat, queueFormat, runFormat } from "./shared/format.ts";
export { hash32, hashText } from "./shared/hash.ts";
export { nearestName } from "./shared/nearest-name.ts";
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
} from "./shared/ids.ts";
export * as limits from "./shared/limits.ts";
export {
  completePlan,
  defaultPlan,
  limitOf,
  type Plan,
  planBounds,
  type PlanLimits,
  timeoutMsOf,
} from "./shared/plans.ts";
export { Places } from "./shared/places.ts";
export { beyondQuota, tooManyEndpoints, tooManyGroups, tooManyQueues } from "./shared/quota.ts";
export {
  type EndedSessions,
  endedSessionsFrom,
  endedSessionsText,
  isSessionOpen,
  noEndedSessions,
  type SessionMade,
  sessionMs,
  withSessionEnded,
} from "./shared/sessions.ts";
export { allShards, shardCount, shardOf } from "./shared/shards.ts";
export { shareOf, wholeOf } from "./shared/share.ts";
export { type Share, Shares } from "./shared/shares.ts";
export {
  agoMs,
  aheadFrom,
  cutOff,
  isAhead,
  isLeaseOver,
  isOver,
  leaseNow,
  leftMs,
  skewMsMax,
  untilMs,
} from "./shared/time.ts";
export { asWritten, TextCache } from "./shared/text-cache.ts";
export { TurnoverMap } from "./shared/turnover-map.ts";
export { Turns } from "./shared/turns.ts";
export { unreachable } from "./shared/unreachable.ts";
export {
  attemptReplacedBy,
  byTime,
  type RunAttempt,
  type ToldAttempt,
} from "./workflow/attempts.ts";
export {
  adopted,
  append,
  type Appended,
  awaiting,
  bytesOfEntry,
  callAnswered,
  cancelRun,
  failRun,
  finish,
  isAnswered,
  leftDropped,
  owesDrop,
  wantedOf,
  withoutLetter,
} from "./workflow/change.ts";
export {
  answerMessage,
  callMessage,
  entryMessage,
  entryOf,
  failureDelivery,
  failureMessage,
  isCallOfRun,
  stepNameOf,
  keptDelivery,
  merged,
  usualDelivery,
} from "./workflow/delivery.ts";
export {
  entriesBetween,
  type DeliveryKey,
  type EntryKey,
  newOrder,
  type Order,
  rankIn,
  type StepKey,
} from "./workflow/order.ts";
export {
  functionAgain,
  functionCanceled,
  functionEnded,
  roundOf,
} from "./workflow/failure-function.ts";
export { askedBy, heldBehind, isHeld, released } from "./workflow/uses.ts";
export { namesPart, pendingPart } from "./workflow/named-parts.ts";
export { asUnmarked, lacksMark, needsMark, protocolVersion, unmarked } from "./workflow/marks.ts";
export {
  deliveryOf,
  isDelivery,
  lettersOfLog,
  type PartKey,
  partKeyOf,
  type PartName,
  partOf,
} from "./workflow/part-key.ts";
export { type MessageStory, messageStories } from "./workflow/message-story.ts";
export { deliveriesShown, type Standing, storyOf, type StepStory } from "./workflow/story.ts";
export { standsStill } from "./workflow/standing.ts";
export { leftOpen, openEntries } from "./workflow/open.ts";
export { inheritedParts, isMadeOf, isOfLog, resumedRun } from "./workflow/resume.ts";
export {
  changedRun,
  type EntryDelivery,
  type EventWay,
  type Feature,
  features,
  type HistoryEntry,
  type Invoker,
  isActive,
  isFailed,
  type Note,
  type Pending,
  type Run,
  type RunFailure,
  type RunIn,
  type RunPart,
  type RunPlan,
  type RunPolicy,
  type RunRef,
  type RunState,
} from "./workflow/run.ts";
export {
  awaitedEvents,
  type EventKeeper,
  hasHook,
  keepsEvents,
  noted,
  oldestNote,
  overdueWaits,
  type Wait,
  waitsFor,
  wakeAtOf,
  withHooks,
  withoutNote,
} from "./workflow/waits.ts";
export {
  invocationOf,
  invokersOf,
  overdueStarts,
  owesAnswer,
  isStarting,
  loggedInvocation,
  settledInvocation,
  startedInvocation,
  tells,
  told,
  withHeir,
} from "./workflow/invocations.ts";
