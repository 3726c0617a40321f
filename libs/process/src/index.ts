export { systemClock, waitMsMax } from "./clock.ts";
export { systemRandom } from "./random.ts";
export { createLog } from "./log/log.ts";
export { createBusyReading } from "./lifecycle/busy.ts";
export { createReadiness } from "./lifecycle/readiness.ts";
export { type Running, startServices } from "./lifecycle/services.ts";
export {
  callsMaxOf,
  fitSockets,
  openFilesMax,
  listenersWithin,
  type Sockets,
} from "./lifecycle/open-files.ts";
export { processParts, type ProcessParts } from "./lifecycle/process-parts.ts";
export { runServiceProcess } from "./lifecycle/service-process.ts";
export { runServices } from "./lifecycle/run.ts";
export { renderTelemetry } from "./telemetry/document.ts";
export { watchLines } from "./telemetry/lines.ts";
export { meteredRuns, watchRuns } from "./telemetry/runs.ts";
export { createTelemetry } from "./telemetry/telemetry.ts";
export { secretInFile, type SecretName } from "./secrets/first-secrets.ts";
export { keyInFile } from "./secrets/key-file.ts";
export { sealStored } from "./secrets/seal-stored.ts";
export { sealAccounts } from "./secrets/sealed-accounts.ts";
export { sealIndexes } from "./secrets/sealed-indexes.ts";
export { createSealer, type Sealer } from "./secrets/sealer.ts";
export {
  configSchemas,
  type ConfigOf,
  type ServiceName,
  type SettingsOf,
} from "./config/services.ts";
export { destinationPolicyOf } from "./config/destination-policy.ts";
export { renderConfiguration } from "./config/document.ts";
export { dumpConfig } from "./config/dump.ts";
export { operatorsOf } from "./config/management.ts";
export { type Environment, loadConfig, type Loaded } from "./config/load.ts";
export { readConfig, refuseConfig } from "./config/read.ts";
export { type StoreName, tlsVariable } from "./config/tls.ts";
export { type Profile } from "./config/variable.ts";
