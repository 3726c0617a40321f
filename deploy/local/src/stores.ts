/** Starts the stores of the distributed shape on this host, as far as they are available. */
import { fetchMongod } from "./fetch/mongod.ts";
import { fetchRedis } from "./fetch/redis.ts";
import { HostLacks } from "./process/run.ts";
import { type ProcessState } from "./process/server-process.ts";
import { prepareKafka, startKafka, type RunningKafka } from "./servers/kafka.ts";
import { startMongod } from "./servers/mongod.ts";
import { type RunningMongo, type RunningServer, type ServerPlace } from "./servers/place.ts";
import { startRedis, type RunningRedis } from "./servers/redis.ts";

/** A server that is unavailable on this host, and why. */
export type Missing = {
  readonly name: string;
  readonly reason: string;
  /** A program has to be installed. Other reasons may pass. */
  readonly isLack: boolean;
};

/** `server` is undefined for a server given by its address, which the stack does not stop. */
type MongoAddress = {
  readonly name: string;
  readonly uri: string;
  readonly server?: RunningMongo;
};

export type Stores = {
  readonly kafka?: RunningKafka;
  readonly redis?: RunningRedis;
  readonly mongodb?: MongoAddress;
  readonly missing: readonly Missing[];
  /** Ends the servers and keeps their data. */
  stop(): Promise<void>;
};

export type StoresOptions = {
  /** The folder below which every server has a folder of its own. */
  readonly dir: string;
  readonly kafka?: boolean;
  readonly redis?: boolean;
  readonly mongodb?: boolean;
  /** The URI of a running MongoDB. Default: `POSTHASTE_MONGODB_URI`. Empty: none. */
  readonly mongodbUri?: string | undefined;
  readonly onState?: (name: string, state: ProcessState) => void;
};

type Kind = "kafka" | "redis" | "mongodb";
type Fetch = () => Promise<{ readonly name: string }>;

const fetches: Readonly<Record<Kind, { readonly label: string; readonly fetch: Fetch }>> = {
  redis: { label: "Redis", fetch: fetchRedis },
  kafka: { label: "Kafka", fetch: prepareKafka },
  mongodb: { label: "MongoDB", fetch: fetchMongod },
};

export async function startStores(options: StoresOptions): Promise<Stores> {
  const { dir, mongodbUri = process.env["POSTHASTE_MONGODB_URI"] } = options;
  const missing: Missing[] = [];
  const running: RunningServer[] = [];
  const start = async <Server extends RunningServer>(
    kind: Kind,
    open: (place: ServerPlace) => Promise<Server>,
  ): Promise<Server | undefined> => {
    const { label, fetch } = fetches[kind];
    let name = label;
    try {
      ({ name } = await fetch());
      const server = await open({ dir, onState: (state) => options.onState?.(name, state) });
      running.push(server);
      return server;
    } catch (error) {
      missing.push(missingFor(name, error));
      return undefined;
    }
  };
  const startMongodb = async (): Promise<MongoAddress | undefined> => {
    if (mongodbUri !== undefined && mongodbUri !== "") return givenMongodb(mongodbUri);
    const server = await start("mongodb", startMongod);
    return server && { name: server.name, uri: server.uri, server };
  };

  const [redis, kafka, mongodb] = await Promise.all([
    options.redis === false ? undefined : start("redis", startRedis),
    options.kafka === false ? undefined : start("kafka", (place) => startKafka(place)),
    options.mongodb === false ? undefined : startMongodb(),
  ]);
  return {
    ...(kafka === undefined ? {} : { kafka }),
    ...(redis === undefined ? {} : { redis }),
    ...(mongodb === undefined ? {} : { mongodb }),
    missing,
    stop: async () => {
      await Promise.all(running.map((server) => server.process.stop()));
    },
  };
}

type Had = {
  readonly [Kind in "kafka" | "redis" | "mongodb"]?: unknown;
};

export function suffices({ kafka, redis, mongodb }: Had): boolean {
  return kafka !== undefined && redis !== undefined && mongodb !== undefined;
}

export async function fetchStores(): Promise<{ fetched: string[]; missing: Missing[] }> {
  const fetched: string[] = [];
  const missing: Missing[] = [];
  for (const { label, fetch } of Object.values(fetches)) {
    try {
      fetched.push((await fetch()).name);
    } catch (error) {
      missing.push(missingFor(label, error));
    }
  }
  return { fetched, missing };
}

function givenMongodb(uri: string): MongoAddress {
  return { name: "the MongoDB that POSTHASTE_MONGODB_URI names", uri };
}

function missingFor(name: string, error: unknown): Missing {
  const reason = Error.isError(error) ? error.message : String(error);
  return { name, reason, isLack: error instanceof HostLacks };
}

/** Returns the exit code for missing servers: 3 when only installations are missing, else 1. */
export function exitCodeFor(missing: readonly Missing[]): number {
  return missing.every(({ isLack }) => isLack) ? 3 : 1;
}
