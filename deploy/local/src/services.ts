/** Runs the six services as processes on this host, over running stores. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { repository } from "./folders.ts";
import { freePort, loopback } from "./process/ports.ts";
import { answers } from "./process/probe.ts";
import {
  type Command,
  type ProcessControls,
  type ProcessState,
  ServerProcess,
} from "./process/server-process.ts";

const serviceNames = [
  "management",
  "workflow-log",
  "callback-dispatcher",
  "deliverer",
  "scheduler",
  "gateway",
] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The part that the results of `startStores()` and the file of `npm run stack -- stores` have in common. */
type StoreAddresses = {
  readonly kafka?: { readonly brokers: readonly string[] };
  readonly redis?: { readonly url: string };
  readonly mongodb?: { readonly uri: string };
};

export type RunningService = {
  readonly name: string;
  readonly service: ServiceName;
  readonly port: number;
  readonly url: string;
  readonly process: ProcessControls;
};

export type RunningServices = {
  readonly all: readonly RunningService[];
  readonly gateway: RunningService;
  readonly management: RunningService;
  of(service: ServiceName): readonly RunningService[];
  /** Returns the kept output of all services since their last start. */
  output(): string;
  stop(): Promise<void>;
};

type Variables = Readonly<Record<string, string>>;

export type ServicesOptions = {
  readonly stores: StoreAddresses;
  /** Returns the checkout that a process runs from its next start on. Undefined: this one. */
  readonly rootOf?: (service: ServiceName, number: number) => string | undefined;
  /** Names the database, and prefixes topics, groups and keys: letters, digits, `_` and `-`, at most 38. */
  readonly room?: string;
  /** The number of processes of each service. Default 1. */
  readonly counts?: Partial<Record<ServiceName, number>>;
  /** The port of a service's first process. Default: a free one. */
  readonly ports?: Partial<Record<ServiceName, number>>;
  readonly env?: Variables;
  /** Variables for one process, such as a store's address behind a proxy. Numbers count from 1. */
  readonly envOf?: (service: ServiceName, number: number) => Variables;
  readonly onState?: (service: RunningService, state: ProcessState) => void;
  readonly onLine?: (service: RunningService, line: string) => void;
};

/** Resolves when all services are ready. If one fails, all are stopped. */
export async function startServices(options: ServicesOptions): Promise<RunningServices> {
  const services: (RunningService & { readonly process: ServerProcess })[] = [];
  for (const service of serviceNames) {
    const count = options.counts?.[service] ?? 1;
    for (let number = 1; number <= count; number++)
      services.push(await prepare(service, number, options));
  }
  const stop = async () => {
    await Promise.all(services.map(({ process }) => process.stop()));
  };
  try {
    await Promise.all(services.map(({ process }) => process.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  const of = (service: ServiceName) => services.filter((one) => one.service === service);
  return {
    all: services,
    gateway: firstOf(of("gateway")),
    management: firstOf(of("management")),
    of,
    output: () => services.map(({ process }) => process.output).join("\n"),
    stop,
  };
}

async function prepare(service: ServiceName, number: number, options: ServicesOptions) {
  const port = (number === 1 ? options.ports?.[service] : undefined) ?? (await freePort());
  const env = {
    ...inheritedEnvironment(),
    ...asInTheImage.env,
    ...environmentOf(service, options),
    POSTHASTE_PORT: String(port),
    ...options.env,
    ...options.envOf?.(service, number),
  };
  const name = `${service} ${number}`;
  const isReady = () => answers(port, readyRequest, (answer) => isOk.test(answer.toString()));
  const rootOf = () => options.rootOf?.(service, number) ?? repository;
  const process = new ServerProcess(commandOf(name, service, env, rootOf), isReady, {
    onState: (state) => options.onState?.(running, state),
    onLine: (line) => options.onLine?.(running, line),
  });
  const running = { name, service, port, url: `http://${loopback}:${port}`, process };
  return running;
}

const readyRequest = `GET /readyz HTTP/1.1\r\nHost: ${loopback}\r\nConnection: close\r\n\r\n`;
const isOk = /^HTTP\/1\.1 200 /;

function commandOf(
  name: string,
  service: ServiceName,
  env: NonNullable<Command["env"]>,
  rootOf: () => string,
): Command {
  return {
    ...{ name, file: process.execPath, env },
    get args() {
      return [...asInTheImage.options, join(rootOf(), "services", service, "process/main.ts")];
    },
    get cwd() {
      return rootOf();
    },
  };
}

/** Returns the variables that the service reads, and no other. */
function environmentOf(service: ServiceName, { stores, room = "posthaste" }: ServicesOptions) {
  const { kafka, redis, mongodb } = stores;
  if (kafka === undefined || redis === undefined || mongodb === undefined)
    throw new Error("the services want Kafka, Redis and MongoDB");
  return {
    POSTHASTE_PROFILE: "dev",
    POSTHASTE_HOST: loopback,
    POSTHASTE_DRAIN_SECONDS: drainSeconds,
    POSTHASTE_KAFKA_BROKERS: kafka.brokers.join(","),
    POSTHASTE_KAFKA_PREFIX: `${room}.`,
    POSTHASTE_REDIS_URL: redis.url,
    POSTHASTE_REDIS_PREFIX: `${room}:`,
    POSTHASTE_MONGODB_URI: mongodb.uri,
    POSTHASTE_MONGODB_DATABASE: room,
    // Derived from the database's name, so that a later run can open what its database holds.
    POSTHASTE_SEALING_KEYS: hash("sha256", room, "base64"),
    POSTHASTE_MANAGEMENT_USER: "admin",
    POSTHASTE_MANAGEMENT_PASSWORD: localManagementPassword,
  };
}

/** The memory settings of deploy/Dockerfile, so that measurements hold there, too. */
export const asInTheImage = {
  options: [
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=16",
    "--no-memory-reducer",
  ],
  env: { MALLOC_MMAP_THRESHOLD_: "1048576" },
} as const;

const drainSeconds = "5";
/** The password of a stack that only this host reaches and whose data may be lost. */
export const localManagementPassword = "admin-of-this-host";

/** Drops variables of Posthaste, so that a setting of the shell does not change the started processes. */
function inheritedEnvironment(): Record<string, string | undefined> {
  const isOurs = ([name]: readonly [string, unknown]) => name.startsWith("POSTHASTE_");
  return Object.fromEntries(Object.entries(process.env).filter((entry) => !isOurs(entry)));
}

function firstOf(services: readonly RunningService[]): RunningService {
  const [first] = services;
  if (first === undefined) throw new Error("one of each service is needed");
  return first;
}
