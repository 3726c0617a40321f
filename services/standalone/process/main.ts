/** The standalone: opens the embedded store and the sender, and runs the six services until a signal. */
import { hash } from "node:crypto";
import { slotBounds } from "@posthaste/deliverer";
import { type Embedded, openEmbedded } from "@posthaste/embedded";
import { connectionsMax } from "@posthaste/http";
import { seedAccounts } from "@posthaste/management";
import { operatorSignIn, tenantSignIn } from "@posthaste/oidc";
import { countedMax, type Service } from "@posthaste/ports";
import {
  createBusyReading,
  callsMaxOf,
  configSchemas,
  createLog,
  createReadiness,
  createSealer,
  createTelemetry,
  destinationPolicyOf,
  fitSockets,
  keyInFile,
  listenersWithin,
  meteredRuns,
  operatorsOf,
  readConfig,
  runServices,
  sealAccounts,
  sealIndexes,
  sealStored,
  systemClock,
  systemRandom,
  watchLines,
  watchRuns,
} from "@posthaste/process";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import { senderOf } from "@posthaste/sender";
import { createStandalone } from "@posthaste/standalone";
import { createCatcher } from "./catcher.ts";
import { printFailures } from "./failures.ts";
import { greeting } from "./greeting.ts";

const config = readConfig(configSchemas.standalone);
const isDev = config.profile === "dev";
const clock = systemClock();
const random = systemRandom();
const written = createLog({
  service: "standalone",
  level: config.logLevel,
  format: isDev ? "human" : "json",
  clock,
});
const { telemetry, log, reporting } = createTelemetry("standalone", config, {
  clock,
  log: written,
  random,
});
const { metrics } = telemetry;
const drainMs = config.drainSeconds * 1_000;
const mebibyte = 1024 * 1024;
/** The share of its time for which the event loop runs from which on publishes may wait (ADR 213). */
const busyShare = 0.9;

const policy = destinationPolicyOf(config);
const store = await openStore();
const sockets = fitSockets({ connections: connectionsMax, calls: callsMaxOf(config) }, log);
watchLines(metrics, store, clock);
watchRuns(metrics, store.sizes, clock);
metrics.watch("posthaste_dead_letters", () => store.sizes.deadLetters(countedMax));
const sender = senderOf(config, policy, { clock, connectionsMax: sockets.calls, metrics });
const { accounts, indexes } = await openSealed();
const seeded = await seedAccounts({ accounts, clock, config }).catch(refuseToStart);
const secretOf = (name: string) => accounts.secret(name, () => random.text(43));
const cursorSecret = await secretOf("cursors");
const sessionSecret = await secretOf("sessions");

const sha256 = (value: string | Uint8Array): string => hash("sha256", value, "hex");

const operators = operatorsOf(config);
const readiness = createReadiness();
const listeners = listenersWithin(
  sockets.connections,
  Number(operators !== undefined) + Number(config.catcher),
);
const { services, gateway, management } = createStandalone(
  {
    ...store,
    runs: meteredRuns(store.runs, metrics),
    accounts,
    indexes,
    sender,
    retryDelays: retryDelays({ loadedAhead: !isDev }),
    clock,
    random,
    log,
    telemetry,
    sha256,
  },
  {
    host: config.host,
    port: config.port,
    policy,
    trustedProxies: config.trustedProxies,
    auditDays: config.auditDays,
    origins: isDev ? config.devOrigins : "none",
    slots: slotBounds(config, sockets.calls),
    readiness,
    connectionsMax: listeners.callers,
    bodyBytesMax: config.maxInFlightMib * mebibyte,
    inlineHistoryBytesMax: config.maxInlineHistoryKib * 1024,
    drainMs,
    slotLateMsMax: config.scheduleLateMinutes * 60_000,
    keptBodiesDiskShareMax: config.keptBodiesDiskPercent / 100,
    cursorSecret,
    llmUrl: config.llmUrl,
    ...(config.console !== "off" && {
      console: {
        ...{ folder: config.console, sessionSecret },
        ofTenants: tenantSignIn(config),
        ofOperator: operatorSignIn(config),
      },
    }),
    llmKey: config.llmKey,
    management: operators && {
      port: portBeside(2),
      connectionsMax: listeners.each,
      operators,
    },
    isBusy: createBusyReading(busyShare),
    storeWaitMs: store.waitMs,
    ...(isDev && config.catcher && { failed: printFailures(clock) }),
  },
);
const adapters: Service = {
  name: "adapters",
  start: async () => undefined,
  stop: async () => {
    await sender.close();
    await store.close();
  },
};
const catcher = config.catcher
  ? [
      createCatcher({
        host: config.host,
        port: portBeside(1),
        clock,
        connectionsMax: listeners.each,
      }),
    ]
  : [];

await runServices([adapters, ...reporting, ...catcher, ...services], {
  log,
  clock,
  drainMs,
  readiness,
});
if (seeded.warning !== undefined) log.warn("accounts.differ", { reason: seeded.warning });
const { token } = seeded;
process.stdout.write(
  greeting({ config, port: gateway.port, managementPort: management?.port, token }),
);

/** Returns the port `distance` above the gateway's (docs/design/security#ports). */
function portBeside(distance: number): number {
  return config.port === 0 ? 0 : config.port + distance;
}

async function openStore(): Promise<Embedded> {
  try {
    const opened = openEmbedded({
      dataDir: config.dataDir,
      clock,
      random,
      log,
      metrics,
      fatal: endProcess,
    });
    await opened.start();
    return opened;
  } catch (error) {
    return refuseToStart(error);
  }
}

/**
 * Opens the sealed ports: with the keys of the environment, or with the key in a file beside the store, which is made
 * if the environment gives none.
 */
async function openSealed() {
  try {
    const given = config.sealingKeys ?? [];
    const own = keyInFile(config.dataDir, given.length === 0);
    const sealer = createSealer(own ? [...given, own] : given);
    await sealStored(store, sealer);
    return {
      accounts: sealAccounts(store.accounts, sealer),
      indexes: sealIndexes(store.indexes, sealer),
    };
  } catch (error) {
    return refuseToStart(error);
  }
}

/** Prints an operator's mistake as one clear line, and exits. */
function refuseToStart(error: unknown): never {
  process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Ends the process when the store has failed, since an acknowledgement could be a lie. */
function endProcess(error: Error): void {
  log.error("store.failed", { error });
  process.exit(1);
}
