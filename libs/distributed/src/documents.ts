/** Opens the storage ports as configured, with secrets sealed at rest, and the store's clock. */
import { openDocuments as openMongo } from "@posthaste/documents-mongo";
import { type Clock, type Service, StoreError, untilAvailable } from "@posthaste/ports";
import {
  type ConfigOf,
  createSealer,
  type ProcessParts,
  type SettingsOf,
  refuseConfig,
  sealAccounts,
  sealIndexes,
  sealStored,
  tlsVariable,
} from "@posthaste/process";
import { refusedUri } from "./refused-uri.ts";
import { tlsFailure } from "./tls-failures.ts";

type MongoConfig = SettingsOf<"migrate", "mongodb">;

export async function openDocuments(
  parts: ProcessParts,
  config: SettingsOf<"management", "mongodb"> & Pick<ConfigOf<"management">, "sealingKeys">,
) {
  const { clock, log, random, readiness, telemetry } = parts;
  const documents = await openMongo({
    uri: config.mongodbUri,
    database: config.mongodbDatabase,
    pool: config.mongodbPool,
    heavyPool: config.mongodbHeavyPool,
    patienceMs: config.mongodbPatienceMs,
    heavyMs: config.mongodbHeavyMs,
    tls: tlsOf(config),
    explain: (error) =>
      tlsFailure("MongoDB", config.mongodbTlsCa !== undefined, error) ?? closedBy(config, error),
    clock,
    log,
    random,
    committed: (writes, seconds) => {
      telemetry.metrics.observe("posthaste_commit_writes", writes);
      telemetry.metrics.observe("posthaste_commit_seconds", seconds);
    },
  }).catch((error: unknown) => refuseConfig(refusedUri(error)));
  telemetry.metrics.watch("posthaste_store_calls_total", () => documents.calls());
  readiness.watch("mongodb", "needed", () => documents.problem());
  readiness.watch("mongodb indexes", "helpful", () => documents.building());
  const sealer = createSealer(config.sealingKeys);
  const { accounts, indexes } = documents.ports;
  const answering = waitingFor(clock, () => documents.problem());
  return {
    ports: {
      ...documents.ports,
      accounts: sealAccounts(accounts, sealer),
      indexes: sealIndexes(indexes, sealer),
    },
    /** A service to start before the ones that need the documents: waits until they answer. */
    answering,
    /** Called by one service at its start: seals anew secrets whose key is being replaced. */
    sealStored: () => sealStored(documents.ports, sealer),
    /** The store's time, with which due times are compared, whatever the clocks of the processes show. */
    clock: documents.storeClock,
    waitMs: documents.waitMs,
    close: () => documents.close(),
  };
}

export const tlsOf = (config: MongoConfig) => ({
  ca: config.mongodbTlsCa,
  certificate: config.mongodbTlsCertificate,
  key: config.mongodbTlsKey,
});

/** Explains a closed connection: a MongoDB that asks for TLS, or for a certificate, ends one without it and gives no reason. */
export function closedBy(
  { mongodbTlsCa, mongodbTlsCertificate, mongodbUri }: MongoConfig,
  error: unknown,
): string | undefined {
  const [, what] = Error.isError(error)
    ? (/^(connection .* closed)$/.exec(error.message) ?? [])
    : [];
  if (what === undefined || mongodbTlsCertificate !== undefined) return undefined;
  const isTls =
    mongodbTlsCa !== undefined ||
    mongodbUri.startsWith("mongodb+srv:") ||
    /[?&](?:tls|ssl)=true/i.test(mongodbUri);
  return isTls
    ? `${what}: if MongoDB asks for a certificate, set ${tlsVariable("MongoDB", "CERTIFICATE")}`
    : `${what}: if MongoDB asks for TLS, add tls=true to POSTHASTE_MONGODB_URI`;
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
