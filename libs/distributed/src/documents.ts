/** The storage ports as configured, with secrets sealed at rest, and the time that they go by. */
import { openDocuments as openMongo } from "@posthaste/documents-mongo";
import { type Clock, type Service, StoreError, untilAvailable } from "@posthaste/ports";
import {
  type ConfigOf,
  createSealer,
  type ProcessParts,
  sealAccounts,
  sealIndexes,
  sealStored,
} from "@posthaste/process";

type DocumentsConfig = Pick<
  ConfigOf<"management">,
  "mongodbDatabase" | "mongodbUri" | "sealingKeys"
>;

export async function openDocuments(parts: ProcessParts, config: DocumentsConfig) {
  const { clock, log, random, readiness, telemetry } = parts;
  const documents = await openMongo({
    uri: config.mongodbUri,
    database: config.mongodbDatabase,
    clock,
    log,
    random,
    committed: (writes, seconds) => {
      telemetry.metrics.observe("posthaste_commit_writes", writes);
      telemetry.metrics.observe("posthaste_commit_seconds", seconds);
    },
  });
  telemetry.metrics.watch("posthaste_store_calls_total", () => documents.calls());
  readiness.watch("mongodb", "needed", () => documents.problem());
  const sealer = createSealer(config.sealingKeys);
  const { accounts, indexes } = documents.ports;
  const answering = waitingFor(clock, () => documents.problem());
  return {
    ports: {
      ...documents.ports,
      accounts: sealAccounts(accounts, sealer),
      indexes: sealIndexes(indexes, sealer),
    },
    /** In front of those that need them: waits at a start until they answer. */
    answering,
    /** Of one service, at its start: seals anew what is sealed with a key that is on its way out. */
    sealStored: () => sealStored(documents.ports, sealer),
    /** Due times are compared with the store's time, whatever the clocks of the processes show. */
    clock: documents.storeClock,
    waitMs: documents.waitMs,
    close: () => documents.close(),
  };
}

function waitingFor(clock: Clock, problem: () => string | undefined): Service {
  let isGivenUp = false;
  const look = async (): Promise<void> => {
    const reason = problem();
    if (reason !== undefined) throw new StoreError("unavailable", reason);
  };
  return {
    name: "documents",
    start: () => untilAvailable(clock, look, () => isGivenUp),
    stop: async () => undefined,
    giveUp: () => void (isGivenUp = true),
  };
}
