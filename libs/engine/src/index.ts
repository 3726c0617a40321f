export { type AcceptPorts, type Published } from "./publish/accept.ts";
export { unknownDestination, unknownGroup } from "./publish/group-publish.ts";
export { publish, publishMany, type SpendQuota } from "./publish/intake.ts";
export { childrenOf, type PublishedGroup } from "./publish/group-publish.ts";
export { type PublishOutcome } from "./publish/publish-portion.ts";
export {
  announce,
  type AnnouncePorts,
  announceTraced,
  hintOf,
  wakeLane,
} from "./publish/announce.ts";
export { cancelMessages, type CancelPorts } from "./bulk/cancel.ts";
export { cancelMatching, countLive, countMatching, matchedMax } from "./bulk/cancel-matching.ts";
export {
  followUp,
  type FollowUpPorts,
  followUpSome,
  type Outbox,
  reportSettled,
} from "./follow-up/follow-up.ts";
export { OwedLog } from "./follow-up/owed-log.ts";
export {
  beginBulkAction,
  type BulkPorts,
  cancelRunsSoon,
  endOfBulkAction,
  workOrDefer,
} from "./bulk/bulk-actions.ts";
export { hasMore, serveLane, announceTurns, type TurnPorts } from "./lanes/turns.ts";
export {
  listFlowKeys,
  pauseFlowKey,
  pinFlowKey,
  readFlowKey,
  resetFlowKey,
  resetFlowRate,
  resumeFlowKey,
  unpinFlowKey,
} from "./lanes/flow-keys.ts";
export { grant, type GrantPorts } from "./lanes/grant.ts";
export {
  type Change,
  retryLetters,
  type RetryLettersPorts,
  unknownLetter,
} from "./bulk/retry-letters.ts";
export { endQueue, makeQueues, type QuotaRefusal, putQueue, resumeQueue } from "./lanes/queues.ts";
export {
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type ScheduleGiven,
  type SchedulePorts,
} from "./schedules/change.ts";
export { readMessage } from "./read.ts";
export { runNow } from "./run-now.ts";
export { addToGroup, removeFromGroup } from "./publish/url-groups.ts";
export { Tenants } from "./tenants.ts";
export { BackgroundWork } from "./ring/background.ts";
export { ringOnce, type RingPorts, sourcesOf, sourcesToRing } from "./ring/ring.ts";
export { Standby } from "./ring/standby.ts";
export { isOfUseBefore } from "./runs/append.ts";
export { type Ended, endOwnRun, endRun, finishRun } from "./runs/end.ts";
export { type RunPorts, beginHeld, type UsePorts } from "./runs/start.ts";
export { placeWait, type WaitCommand, type Waiter, waitersOf } from "./runs/waits.ts";
export { hookRun, type Notified, notify, notifyRun, runForEvent } from "./runs/notify.ts";
export { cancelRunsMatching } from "./runs/cancel-runs.ts";
export { cancelFunction, restartFailureFunction } from "./runs/failure-function.ts";
export { restartRun, resumeRun } from "./runs/resume.ts";
export { StandingRuns } from "./runs/standing-runs.ts";
export { NamedDeliverers } from "./publish/named-delivery.ts";
