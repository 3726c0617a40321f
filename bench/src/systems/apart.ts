/** Runs Posthaste as six services over real stores on one host, which shows their cost there, not how far they scale. */
import {
  freePort,
  type RunningServices,
  startServices,
  startStores,
  type Stores,
} from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { readCalls, type Calls } from "./calls.ts";
import { profiling } from "./posthaste.ts";
import { type StartOptions, type System } from "./system.ts";
import { ownChildren } from "./usage.ts";

export type ApartStores = {
  readonly stores: Stores;
  readonly names: string;
  /** The first process of each store. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
};

export async function startApartStores(): Promise<ApartStores> {
  const data = dataFolder();
  const before = ownChildren();
  const stores = await startStores({ dir: data.path });
  const { kafka, redis, mongodb, missing } = stores;
  if (kafka === undefined || redis === undefined || mongodb === undefined) {
    await stores.stop();
    data.remove();
    throw new Error(
      `missing: ${missing.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`,
    );
  }
  return {
    stores,
    pids: ownChildren().filter((pid) => !before.includes(pid)),
    names: [kafka.name, redis.name, mongodb.name].join(", "),
    stop: async () => {
      await stores.stop();
      data.remove();
    },
  };
}

export type Apart = System & { readonly calls: () => Promise<Calls> };

export type ApartOptions = StartOptions & {
  readonly deliverers: number;
  /** The checkout to run. Default: this one. */
  readonly root?: string | undefined;
};

/** Starts the six services. Each installation has its own database and prefix in the stores. */
export async function startApart(
  { stores }: ApartStores,
  { deliverers, root, profilePath }: ApartOptions,
): Promise<Apart> {
  const isBefore = root !== undefined;
  const metricsPorts: number[] = [];
  const ports = new Map<string, string>();
  for (const name of ["gateway", "scheduler", "callback-dispatcher", "workflow-log"])
    ports.set(`${name} 1`, String(await freePort()));
  for (let number = 1; number <= deliverers; number++)
    ports.set(`deliverer ${number}`, String(await freePort()));
  const services: RunningServices = await startServices({
    stores,
    rootOf: () => root,
    room: `bench-${deliverers}${isBefore ? "-before" : ""}-${process.pid}`,
    counts: { deliverer: deliverers },
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_REDIS_BUDGET_MS: "1000",
      NODE_OPTIONS: profiling(profilePath).join(" "),
    },
    envOf: (service, number): Readonly<Record<string, string>> => {
      const port = ports.get(`${service} ${number}`);
      if (port === undefined) return {};
      metricsPorts.push(Number(port));
      return { POSTHASTE_METRICS_PORT: port };
    },
  });
  return {
    name: apartName(deliverers, isBefore),
    port: services.gateway.port,
    pids: services.all.flatMap(({ process: { pid } }) => pid ?? []),
    stop: () => services.stop(),
    output: () => services.output(),
    calls: () => readCalls(metricsPorts),
  };
}

const apartName = (deliverers: number, isBefore: boolean) =>
  `posthaste apart, ${deliverers} deliverer${deliverers === 1 ? "" : "s"}${isBefore ? ", before" : ""}` as const;
