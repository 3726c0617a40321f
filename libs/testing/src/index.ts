export { aCommand, aKey } from "./builders/command.ts";
export {
  aCallbackPlan,
  aFlow,
  aQueue,
  aClaimedRecord,
  aMessage,
  anotherOwner,
  anotherTenant,
  anOwner,
  aPolicy,
  aRecordIn,
  aTenant,
  finishedStates,
  liveStates,
  type MessageOverrides,
  newId,
  type Progress,
} from "./builders/message.ts";
export { byKind } from "./by-kind.ts";
export { aFanOut } from "./builders/fan-out.ts";
export { aborted, anAnswer, anAttempt, aTimeout, ourFailure } from "./builders/outcome.ts";
export { aCron, aSchedule, aScheduleCommand } from "./builders/schedule.ts";
export {
  aPlan,
  aResult,
  aRun,
  aRunId,
  aRunStart,
  aStartCommand,
  aStepCommand,
  ending,
  joining,
} from "./builders/run.ts";
export { anEndpoint, someEndpoints } from "./builders/url-group.ts";
export { answer, type Destination, openDestination, type Respond } from "./destination.ts";
export { type LogLine, type RecordingLog, recordingLog } from "./recording-log.ts";
export { modulesLoadedBy } from "./loaded-modules.ts";
export { type Dice, dice, seededRandom } from "./seeded-random.ts";
export { sha256 } from "./sha256.ts";
export { turn, until } from "./turns.ts";
export { epochStart, type VirtualClock, virtualClock, withOwnTimers } from "./virtual-clock.ts";
export { testStores } from "./test-stores.ts";
export {
  anotherAuthority,
  anotherKey,
  authority,
  certificateKey,
  clientCertificate,
  serverCertificate,
} from "./certificates.ts";
