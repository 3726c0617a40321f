/** MongoDB on this host only: a replica set of one or several members. Fail points are on. */
import { type Document, MongoClient } from "mongodb";
import { fetchMongod } from "../fetch/mongod.ts";
import { freePort, loopback } from "../process/ports.ts";
import { accepts } from "../process/probe.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type Address } from "../proxy.ts";
import {
  dataFolder,
  type Road,
  type RunningMongo,
  type RunningMongoSet,
  type ServerPlace,
  straight,
} from "./place.ts";

const setName = "posthaste";
/** Without chaining, a stopped secondary holds up no other, which might copy from it. */
const settings = {
  heartbeatIntervalMillis: 250,
  electionTimeoutMillis: 2_000,
  chainingAllowed: false,
};
const askMsMax = 2_000;
const electionMsMax = 60_000;
const pollMs = 50;

/** Starts a set of one member and waits until it accepts writes. `words`: further arguments. */
export async function startMongod(
  place: ServerPlace,
  words: readonly string[] = [],
): Promise<RunningMongo> {
  const member = await startMember(place, "mongod", words);
  await initiate([member]);
  return member;
}

/** Starts a set of three members and waits until one accepts writes. */
export async function startMongodSet(
  place: ServerPlace,
  road: Road = straight,
): Promise<RunningMongoSet> {
  const names = ["mongod-1", "mongod-2", "mongod-3"];
  const members = await Promise.all(names.map((name) => startMember(place, name)));
  const known = await Promise.all(members.map(road));
  await initiate(members, known);
  const hosts = known.map(({ host, port }) => `${host}:${port}`);
  return {
    name: `${members[0]?.name}, a set of ${members.length}`,
    members,
    uri: `mongodb://${hosts.join()}/?replicaSet=${setName}`,
    primary: async () => {
      const at = await primaryOf(members);
      if (at === undefined) throw new Error("the set has no primary");
      return at;
    },
    stop: async () => {
      await Promise.all(members.map(({ process }) => process.stop()));
    },
  };
}

/** Returns a URI for this address only. Without the option the driver would look for the set behind it. */
export const directUri = ({ host, port }: Address): string =>
  `mongodb://${host}:${port}/?directConnection=true`;

/** Sends `command` to the member itself, whatever its state in the set. */
export async function askMongod(
  member: Address,
  command: Document,
  database = "admin",
): Promise<Document> {
  const client = new MongoClient(directUri(member), {
    serverSelectionTimeoutMS: askMsMax,
    socketTimeoutMS: askMsMax,
  });
  try {
    return await client.db(database).command(command);
  } finally {
    await client.close();
  }
}

async function startMember(
  place: ServerPlace,
  folder: string,
  words: readonly string[] = [],
): Promise<RunningMongo> {
  const { name, file } = await fetchMongod();
  const port = place.port ?? (await freePort());
  const parameters = {
    enableTestCommands: 1,
    diagnosticDataCollectionEnabled: false,
    // By default a member that is stopped waits 15 s for its clients to find another.
    shutdownTimeoutMillisForSignaledShutdown: 100,
  };
  const args = [
    ...["--dbpath", dataFolder(place, folder)],
    ...["--port", String(port), "--bind_ip", loopback, "--nounixsocket"],
    ...["--replSet", setName, "--oplogSize", "128", "--wiredTigerCacheSizeGB", "0.25", "--quiet"],
    ...Object.entries(parameters).flatMap(([key, value]) => ["--setParameter", `${key}=${value}`]),
    ...words,
  ];
  const isReady = async () => (await accepts(port)) && (await isServing({ host: loopback, port }));
  const server = new ServerProcess({ name, file, args }, isReady, place);
  await server.start();
  return { name, host: loopback, port, process: server, uri: `mongodb://${loopback}:${port}/` };
}

/** Reports whether the member is ready: a lone one when it accepts writes, one of several when it takes part in the set. */
async function isServing(member: Address): Promise<boolean> {
  const hello = await helloOf(member);
  if (hello === undefined) return false;
  const isOneOfSeveral = Array.isArray(hello["hosts"]) && hello["hosts"].length > 1;
  return isInitiated(hello)
    ? isPrimary(hello) || (isOneOfSeveral && hello["secondary"] === true)
    : true;
}

const isInitiated = (hello: Document): boolean => hello["isreplicaset"] !== true;
const isPrimary = (hello: Document | undefined): boolean => hello?.["isWritablePrimary"] === true;
const helloOf = (member: Address): Promise<Document | undefined> =>
  askMongod(member, { hello: 1 }).catch(() => undefined);

/** Makes the members a set if they are none yet, and waits for a primary. */
async function initiate(
  members: readonly RunningMongo[],
  known: readonly Address[] = members,
): Promise<void> {
  const [first] = members;
  if (first === undefined) throw new Error("a set has at least one member");
  const hello = await helloOf(first);
  if (hello !== undefined && !isInitiated(hello))
    await askMongod(first, {
      replSetInitiate: {
        _id: setName,
        members: known.map(({ host, port }, _id) => ({ _id, host: `${host}:${port}` })),
        settings,
      },
    });
  const deadline = performance.now() + electionMsMax;
  while ((await primaryOf(members)) === undefined) {
    if (performance.now() > deadline) throw new Error(`${first.name}: no primary was elected`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function primaryOf(members: readonly RunningMongo[]): Promise<RunningMongo | undefined> {
  for (const member of members.filter(({ process }) => process.isRunning))
    if (isPrimary(await helloOf(member))) return member;
  return undefined;
}
