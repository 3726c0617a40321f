export { attemptReplacedBy, byTime, type RunAttempt, type ToldAttempt } from "./run-attempts.ts";
export {
  adopt,
  append,
  type Appended,
  awaiting,
  bytesOfEntry,
  callAnswered,
  cancelRun,
  failRun,
  finish,
  hasTakenEffect,
  leftDropped,
  owesDrop,
  wantedOf,
  withoutLetter,
} from "./change.ts";
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
} from "./delivery.ts";
export {
  entriesBetween,
  type DeliveryKey,
  type EntryKey,
  newOrder,
  type Order,
  type StepKey,
} from "./order.ts";
export { functionAgain, functionCanceled, functionEnded, roundOf } from "./failure-function.ts";
export { askedBy, heldBehind, isHeld, released } from "./uses.ts";
export { namesPart, pendingPart } from "./named-parts.ts";
export { asUnmarked, lacksMark, needsMark, protocolVersion, unmarked } from "./marks.ts";
export {
  deliveryOf,
  lettersOfLog,
  type PartKey,
  partKeyOf,
  type PartName,
  partOf,
} from "./part-key.ts";
export { type MessageStory, messageStories } from "./message-story.ts";
export { deliveriesShown, type StepStatus, storyOf, type StepStory } from "./story.ts";
export { leftOpen, openEntries, isStuck } from "./open-entries.ts";
export { inheritedParts, isMadeOf, isOfLog, resumedRun } from "./resume.ts";
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
} from "./run.ts";
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
} from "./waits.ts";
export {
  invocationOf,
  invokersOf,
  overdueStarts,
  owesAnswer,
  isStarting,
  loggedInvocation,
  settledInvocation,
  startedInvocation,
  hasInvoker,
  invokersTold,
  withHeir,
} from "./invocations.ts";
