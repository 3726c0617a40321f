export {
  accept,
  acceptClaimed,
  acceptGranted,
  acceptNamed,
  isNamed,
  mayBeNamed,
  mayGoAtOnce,
  claimableAtInsert,
  messageOf,
  needsOnlySlot,
} from "./accept.ts";
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
} from "./alarm.ts";
export { attemptsOf, type LoggedAttempt } from "./attempts.ts";
export { callbackBody, callbackMessage, canonicalName, groupedHeaders } from "./callback.ts";
export { cancel, type Cancellation, dropped, owedCancellation, owesOnlyLog } from "./cancel.ts";
export { claim, isClaimable, lossOf } from "./claim.ts";
export { promote, type Promotion } from "./promote.ts";
export { type DeadLetter, deadLetterOf } from "./dead-letter.ts";
export {
  answerOfFact,
  type AttemptFact,
  type CallbackItem,
  type FailureReason,
  failureReasons,
  type FollowUp,
  type FollowUpKind,
  followUpKinds,
  type FollowUpOf,
  type RunItem,
} from "./follow-up.ts";
export { movedUp } from "./moved-up.ts";
export { bodyKeptUntil, keepsBodies, keptMsMaxNext, keptMsOf, mayKeepBody } from "./kept-body.ts";
export {
  createdEvent,
  eventsOf,
  type LogEvent,
  type LogState,
  logStates,
  tellsFact,
  minuteMs,
  rankOf,
} from "./log.ts";
export { connectionHeader, type HeaderPair, type Headers } from "./headers.ts";
export {
  type Api,
  type Configuration,
  configurationBytes,
  type Dialect,
  dialects,
  finishedKinds,
  type InRun,
  type InState,
  isFinished,
  isIn,
  type LiveKind,
  liveKinds,
  type Message,
  type MessageRecord,
  type MessageState,
  type Origin,
  type Progress,
  progressOf,
  sentBytes,
  sizeOf,
  type StateKind,
  type TurnOf,
} from "./message.ts";
export {
  type Answer,
  type Answered,
  asResult,
  type BrokenBy,
  type InfrastructureCode,
  isSuccess,
  type Outcome,
  type UnreachableCode,
} from "./outcome.ts";
export {
  type CallbackPlan,
  type CallbackSettings,
  inCallbacks,
  type Method,
  methods,
  type Policy,
  type Redaction,
} from "./policy.ts";
export { redacted, redactedConfiguration, redactsHeader, type Sha256Hex } from "./redact.ts";
export { type OwnFact, ownFactOf, ownStates } from "./own-log.ts";
export { changedFlow, changedPolicy, faultOfFlow, refusalOfCallback } from "./changed-policy.ts";
export { idOfRetriedLetter, type Overrides, retriedMessage } from "./retried-letter.ts";
export { backoffMs, clampRetryDelayMs, requestedWaitMs } from "./retry.ts";
export { release, type Release } from "./release.ts";
export { ring, type Ringing } from "./ring.ts";
export { giveBack, postpone, quarantine, settleAttempt } from "./settle.ts";
export { settleUnwanted } from "./settle-in-run.ts";
export {
  alarmAfter,
  type EndedAttempt,
  owedFact,
  owedToLog,
  type Settlement,
} from "./settlement.ts";
export {
  isDone,
  mayClaimWithTurn,
  mayTakeBack,
  queueOfEndedTurn,
  takenBackEpoch,
  takeTurn,
  waitsOf,
} from "./turn.ts";
