export { systemClock, waitMsMax } from "./clock.ts";
export { systemRandom } from "./random.ts";
export { createLog, type LogOptions } from "./log/log.ts";
export { createReadiness, type Need, type Readiness } from "./lifecycle/readiness.ts";
export { type Running, type Service, startServices } from "./lifecycle/services.ts";
export { processParts, type ProcessParts } from "./lifecycle/process-parts.ts";
export { runServiceProcess, type ServiceProcess } from "./lifecycle/service-process.ts";
export { runServices, type RunOptions } from "./lifecycle/run.ts";
export { renderTelemetry } from "./telemetry/document.ts";
export { createTelemetry } from "./telemetry/telemetry.ts";
export { addressSet, type AddressSet, callerIp } from "./http/caller-ip.ts";
export { type Admission, createAdmission, type RequestKind } from "./http/admission.ts";
export { answer, type FlatHeaders } from "./http/answer.ts";
export { type Answers, createAnswers, type Refusal } from "./http/answers.ts";
export { type BodyBudget, createBodyBudget, readBody } from "./http/body.ts";
export { createEdge, type Edge, type EdgeOptions, type RequestHandler } from "./http/edge.ts";
export {
  createExpressApp,
  emptyReply,
  queryOf,
  reply,
  type Reply,
  type RoutedPath,
  type Work,
} from "./http/express.ts";
export { onlyValueOf } from "./http/request-head.ts";
export {
  type Authenticator,
  type Caller,
  createAuthenticator,
} from "./authenticate/authenticator.ts";
export {
  developmentUsers,
  type DevelopmentUser,
  isPublicSecret,
  isPublicTokenHash,
  newSigningKey,
  newToken,
  tokenHash,
  userOf,
} from "./authenticate/credentials.ts";
export { createFailureLimit, type FailureLimit } from "./authenticate/failure-limit.ts";
export { keyInFile } from "./secrets/key-file.ts";
export { sealStored } from "./secrets/seal-stored.ts";
export { sealAccounts } from "./secrets/sealed-accounts.ts";
export { sealIndexes } from "./secrets/sealed-indexes.ts";
export { createSealer, type Sealer } from "./secrets/sealer.ts";
export { createCursors, type Cursors, type CursorScope } from "./cursor.ts";
export { configSchemas, type ConfigOf, type ServiceName } from "./config/services.ts";
export { destinationPolicyOf } from "./config/destination-policy.ts";
export { renderConfiguration } from "./config/document.ts";
export { dumpConfig } from "./config/dump.ts";
export { type Environment, loadConfig, type Loaded } from "./config/load.ts";
export { readConfig } from "./config/read.ts";
export { type Profile } from "./config/variable.ts";
