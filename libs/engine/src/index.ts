export { type AcceptPorts, type Published } from "./accept.ts";
export { unknownGroup } from "./group-publish.ts";
export { publish } from "./publish.ts";
export { childrenOf, type PublishedGroup } from "./group-publish.ts";
export { publishMany } from "./publish-many.ts";
export { type Outcome } from "./publish-portion.ts";
export { announce, announceTraced, hintOf, wakeLane } from "./announce.ts";
export { cancelMessages, type CancelPorts } from "./cancel.ts";
export { type ExpandPorts, expandStored } from "./fan-out.ts";
export { cancelMatching, countLive, countMatching, matchedMax } from "./cancel-matching.ts";
export { followUp, type FollowUpPorts, type Outbox, tellSettled } from "./follow-up.ts";
export {
  beginBulkAction,
  type BulkPorts,
  cancelRunsSoon,
  endOfBulkAction,
  workOrHandOn,
} from "./bulk-actions.ts";
export { admit, hasMore, serveLane, type TurnPorts } from "./turns.ts";
export {
  type FlowKeyNow,
  listFlowKeys,
  pauseFlowKey,
  pinFlowKey,
  readFlowKey,
  resetFlowKey,
  resetFlowRate,
  resumeFlowKey,
  unpinFlowKey,
} from "./flow-keys.ts";
export { grant, type GrantPorts } from "./grant.ts";
export {
  type Change,
  retryLetters,
  type RetryLettersPorts,
  unknownLetter,
} from "./retry-letters.ts";
export { endQueue, makeQueues, type NoRoom, putQueue, resumeQueue } from "./queues.ts";
export {
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type ScheduleGiven,
  type SchedulePorts,
} from "./schedules/change.ts";
export { readMessage } from "./read.ts";
export { runNow } from "./run-now.ts";
export { addToGroup, removeFromGroup } from "./url-groups.ts";
export { Tenants } from "./tenants.ts";
export { BackgroundWork } from "./background.ts";
export { ringOnce, type RingPorts, sourcesNow } from "./ring.ts";
export { appendSteps, isEntry } from "./runs/append.ts";
export { isCall, placeCall } from "./runs/call.ts";
export { type Ended, endRun, finishRun } from "./runs/end.ts";
export { type RunPorts, startRun, startRunOf } from "./runs/start.ts";
export { placeWait, type WaitCommand } from "./runs/waits.ts";
export { type Notified, notify, notifyRun } from "./runs/notify.ts";
export { type Waiter, waitersOf } from "./runs/kept-waits.ts";
export { cancelRunsMatching } from "./runs/cancel-runs.ts";
export { invoke, isInvoke } from "./runs/invoke.ts";
export { cancelFunction, tellAgain } from "./runs/failure-function.ts";
export { restartRun } from "./runs/restart.ts";
export { resumeRun } from "./runs/resume.ts";
export { NamedDeliverers } from "./named-delivery.ts";
