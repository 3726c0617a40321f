/** The standalone: opens the embedded store and the sender, runs the six services until a signal. */
import { hash } from "node:crypto";
import { destinationPolicy, isFault } from "@posthaste/domain";
import { type Embedded, openEmbedded } from "@posthaste/embedded";
import { seedAccounts, type Seeded } from "@posthaste/management";
import {
  configSchemas,
  createLog,
  readConfig,
  runServices,
  type Service,
  systemClock,
  systemRandom,
} from "@posthaste/runtime";
import { createSender } from "@posthaste/sender";
import { createCatcher } from "./catcher.ts";
import { greeting } from "./greeting.ts";
import { createStandalone } from "./standalone.ts";

const config = readConfig(configSchemas.standalone);
const isDev = config.profile === "dev";
const clock = systemClock();
const random = systemRandom();
const log = createLog({
  service: "standalone",
  level: config.logLevel,
  format: isDev ? "human" : "json",
  clock,
});
const drainMs = config.drainSeconds * 1_000;

const policy = destinationPolicy({
  allowLoopback: isDev,
  anyPort: isDev,
  allowPrivateCidrs: config.allowPrivateCidrs,
  ownOrigins: [`${config.host.includes(":") ? `[${config.host}]` : config.host}:${config.port}`],
});
if (isFault(policy)) throw new Error(policy.text);

const store = openStore();
const monotonicClock = { ...clock, now: () => performance.now() };
/** Long calls have a pool of their own, so an origin may see twice its share of connections. */
const sender = createSender({
  policy,
  connectionsPerOriginMax: config.maxPerOrigin + config.maxInFlight,
  originsMax: 1_000,
  clock: monotonicClock,
});
const seeded = await seed();
const cursorSecret = await store.accounts.secret("cursors", () => random.text(43));

const sha256 = (value: string | Uint8Array): string => hash("sha256", value, "hex");

const { services, gateway, readiness } = createStandalone(
  { ...store, messageLog: store.log, sender, clock, random, log, sha256 },
  {
    host: config.host,
    port: config.port,
    policy,
    trustedProxies: config.trustedProxies,
    anyOrigin: isDev,
    attemptsMax: config.maxInFlight,
    attemptsPerOriginMax: config.maxPerOrigin,
    drainMs,
    cursorSecret,
    // The embedded store commits on this thread: whoever waits for it delays the event loop, which is measured.
    storeWaitMs: () => 0,
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
const catcherPort = config.port === 0 ? 0 : config.port + 1;
const catcher = config.catcher
  ? [createCatcher({ host: config.host, port: catcherPort, clock })]
  : [];

await runServices([adapters, ...catcher, ...services], { log, clock, drainMs, readiness });
if (seeded.warning !== undefined) log.warn("accounts.differ", { reason: seeded.warning });
process.stdout.write(greeting({ config, port: gateway.port, token: seeded.token }));

function openStore(): Embedded {
  try {
    return openEmbedded({ dataDir: config.dataDir, clock, random, log, fatal: endProcess });
  } catch (error) {
    return refuseToStart(error);
  }
}

function seed(): Promise<Seeded> {
  return seedAccounts({ accounts: store.accounts, config }).catch(refuseToStart);
}

/** An operator's mistake gets one clear line. */
function refuseToStart(error: unknown): never {
  process.stderr.write(`${Error.isError(error) ? error.message : String(error)}\n`);
  process.exit(1);
}

/** The store has failed: an acknowledgement could be a lie, so this process answers nothing more. */
function endProcess(error: Error): void {
  log.error("store.failed", { error });
  process.exit(1);
}
