/**
 * Stores and services of a run, as real processes on this host: two deliverers, two schedulers, one of each other
 * service. Between each service and its stores is a proxy of its own, which does nothing until it is told to.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  directUri,
  openProxy,
  type Proxy,
  type RunningKafka,
  type RunningMongo,
  type RunningRedis,
  type RunningService,
  type RunningServices,
  type ServiceName,
  type ServicesOptions,
  startServices,
  startStores,
  type Stores,
} from "@posthaste/local";
import { until } from "./until.ts";

/** The part of a cluster that every run needs. */
export type Cluster = {
  /** The names of the stores. */
  readonly against: readonly string[];
  readonly services: RunningServices;
  /** Resolves when every service is ready and misses nothing. */
  untilWell(): Promise<void>;
  stop(): Promise<void>;
};

export type Database = { readonly uri: string; readonly database: string };

/** One server of each store. */
export type LoneCluster = Cluster &
  Database & {
    readonly kafka: RunningKafka;
    readonly redis: RunningRedis;
    readonly mongodb: RunningMongo;
    proxiesOf(service: RunningService): Proxies;
  };

export type Proxies = { readonly mongodb: Proxy; readonly redis: Proxy };

export const counts: Readonly<Record<ServiceName, number>> = {
  gateway: 1,
  deliverer: 2,
  scheduler: 2,
  "callback-dispatcher": 1,
  "workflow-log": 1,
  management: 1,
};
export const room = "faults";
export const env = {
  POSTHASTE_LOG_LEVEL: "warn",
  POSTHASTE_KAFKA_PARTITIONS: "4",
  // Each kill waits until the session of the killed member is over.
  POSTHASTE_KAFKA_SESSION_MS: "3000",
  // Longer than any call of a run, once its gate is open.
  POSTHASTE_DRAIN_SECONDS: "12",
  // On a busy host an answer may take longer than the default budget.
  POSTHASTE_REDIS_BUDGET_MS: "2000",
} as const;
const answerMsMax = 5_000;

export async function startCluster(
  options: Pick<ServicesOptions, "rootOf"> = {},
): Promise<LoneCluster> {
  const dir = mkdtempSync(join(tmpdir(), "posthaste-faults-"));
  // Never a server from outside: these are broken.
  const stores = await startStores({ dir, mongodbUri: "" });
  const proxies = new Map<string, Proxies>();
  const stopStores = async (): Promise<void> => {
    for (const { mongodb, redis } of proxies.values())
      await Promise.all([mongodb.close(), redis.close()]);
    await stores.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const services = await startOver(stores, proxies, options);
    const { kafka, redis, mongodb } = broken(stores);
    return {
      ...{ kafka, redis, mongodb, services },
      against: [kafka, redis, mongodb].map(({ name }) => name),
      ...{ uri: mongodb.uri, database: room },
      proxiesOf: ({ name }) => found(proxies, name),
      untilWell: () => untilWell(services),
      stop: async () => {
        await services.stop();
        await stopStores();
      },
    };
  } catch (error) {
    await stopStores();
    throw error;
  }
}

/** Returns the servers that a run breaks. Throws unless all of them exist and were started here. */
function broken({ kafka, redis, mongodb, missing }: Stores) {
  const store = mongodb?.server;
  if (!kafka || !redis || !store)
    throw new Error(`there are not all stores: ${JSON.stringify(missing)}`);
  return { kafka, redis, mongodb: store };
}

async function startOver(
  stores: Stores,
  proxies: Map<string, Proxies>,
  options: Pick<ServicesOptions, "rootOf">,
): Promise<RunningServices> {
  const { mongodb, redis } = broken(stores);
  for (const [service, count] of Object.entries(counts))
    for (let number = 1; number <= count; number++)
      proxies.set(`${service} ${number}`, {
        mongodb: await openProxy({ to: mongodb }),
        redis: await openProxy({ to: redis }),
      });
  return startServices({
    ...options,
    stores,
    room,
    counts,
    env,
    envOf: (service, number) => {
      const own = found(proxies, `${service} ${number}`);
      return {
        POSTHASTE_MONGODB_URI: directUri(own.mongodb),
        POSTHASTE_REDIS_URL: `redis://${own.redis.host}:${own.redis.port}`,
      };
    },
  });
}

function found(proxies: ReadonlyMap<string, Proxies>, name: string): Proxies {
  const own = proxies.get(name);
  if (!own) throw new Error(`${name} has no proxies`);
  return own;
}

export const untilWell = ({ all }: RunningServices): Promise<void> =>
  until("every service is ready and misses nothing", async () => {
    const answers = await Promise.all(all.map(isWell));
    return answers.every(Boolean);
  });

async function isWell({ url }: RunningService): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerMsMax);
    const answer = await fetch(`${url}/readyz`, { signal });
    return (await answer.text()) === `{"ready":true}`;
  } catch {
    return false;
  }
}

export function flush({ host, port }: RunningRedis): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once("error", reject);
    socket.once("data", (answer: Buffer) => {
      socket.destroy();
      const text = answer.toString();
      if (text.startsWith("+OK")) resolve();
      else reject(new Error(`Redis was not flushed: ${text}`));
    });
    socket.write("FLUSHALL\r\n");
  });
}
