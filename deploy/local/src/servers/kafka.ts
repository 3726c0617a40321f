/** Kafka (KRaft) on this host only: one node that is both broker and controller, and further brokers that join it. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { fetchKafka } from "../fetch/kafka.ts";
import { fingerprint } from "../fetch/maven.ts";
import { freePort, loopback } from "../process/ports.ts";
import { onPath, run } from "../process/run.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type Address } from "../proxy.ts";
import { type Road, type RunningServer, type ServerPlace, dataFolder, straight } from "./place.ts";

export type RunningKafka = RunningServer & {
  readonly brokers: readonly string[];
  /** Brokers by the name of a further listener. */
  readonly guarded: ReadonlyMap<string, readonly string[]>;
  /** The data that another broker needs in order to join. */
  readonly cluster: Cluster;
};
/** `controllerPorts`: of the first nodes, in their order. */
type Cluster = { readonly id: string; readonly controllerPorts: readonly number[] };

export type Guard = {
  /** In capital letters. */
  readonly name: string;
  readonly protocol: "SSL" | "SASL_SSL" | "SASL_PLAINTEXT";
  /** Settings by their names in server.properties after the listener's name. */
  readonly settings: Readonly<Record<string, string>>;
};

const simpleLogger = "-Dorg.slf4j.simpleLogger";
const jvm = [
  ...["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
  `${simpleLogger}.defaultLogLevel=warn`,
  // Says that the server has started, which is what the start waits for.
  `${simpleLogger}.log.kafka.server.KafkaRaftServer=info`,
];
const started = "Kafka Server started";

/** `settings`: further ones of server.properties. */
export async function startKafka(
  place: ServerPlace,
  guards: readonly Guard[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningKafka> {
  const controllerPorts = [await freePort()];
  const folder = dataFolder(place, "kafka");
  const cluster = { id: clusterIdIn(folder) ?? newClusterId(), controllerPorts };
  const node = { nodeId: firstNode, role: "broker,controller", cluster, guards, settings } as const;
  return startNode(place, folder, node);
}

type RunningKafkaSet = {
  readonly name: string;
  readonly brokers: readonly string[];
  readonly members: readonly RunningKafka[];
  stop(): Promise<void>;
};

/** Starts three nodes, each of them broker and controller. Topics have three copies, of which two must be in step. */
export async function startKafkaSet(
  place: Pick<ServerPlace, "dir">,
  road: Road = straight,
): Promise<RunningKafkaSet> {
  const controllerPorts = [await freePort(), await freePort(), await freePort()];
  const cluster = { id: newClusterId(), controllerPorts };
  const roads = await Promise.all(
    controllerPorts.map(async () => {
      const port = await freePort();
      return { port, known: await road({ host: loopback, port }) };
    }),
  );
  const members = await Promise.all(
    roads.map(({ port, known }, i) => {
      const node = {
        nodeId: firstNode + i,
        role: "broker,controller",
        cluster,
        guards: [],
      } as const;
      return startNode({ ...place, port }, dataFolder(place, `kafka-${i + 1}`), { ...node, known });
    }),
  );
  return {
    name: `${members[0]?.name}, ${members.length} brokers`,
    brokers: members.flatMap(({ brokers }) => brokers),
    members,
    // In good order, the last ones would wait for the first.
    stop: async () => void (await Promise.all(members.map(({ process }) => process.kill()))),
  };
}

/** Adds a second broker to the cluster of `first`, which stays its only controller. `brokers` of the answer names both. */
export async function joinKafka(first: RunningKafka, place: ServerPlace): Promise<RunningKafka> {
  const { cluster, brokers } = first;
  const folder = dataFolder(place, "kafka-2");
  const node = { nodeId: firstNode + 1, role: "broker", cluster, guards: [] } as const;
  const second = await startNode(place, folder, node);
  return { ...second, brokers: [...brokers, ...second.brokers] };
}

const firstNode = 1;
const metaOf = (folder: string): string => join(folder, "log/meta.properties");
const newClusterId = (): string => randomBytes(16).toString("base64url");

function clusterIdIn(folder: string): string | undefined {
  if (!existsSync(metaOf(folder))) return undefined;
  return /^cluster\.id=(.*)$/m.exec(readFileSync(metaOf(folder), "utf8"))?.[1];
}

type Node = {
  readonly nodeId: number;
  readonly role: "broker" | "broker,controller";
  readonly cluster: Cluster;
  readonly guards: readonly Guard[];
  readonly settings?: Readonly<Record<string, string>>;
  /** The address that the node announces to clients and other nodes. Default: the node's own. */
  readonly known?: Address;
};

async function startNode(place: ServerPlace, folder: string, node: Node): Promise<RunningKafka> {
  const { classes } = await prepareKafka();
  return startJava(place, folder, node, classes);
}

/**
 * Fetches Kafka, and keeps its classes as a JVM has loaded them in an archive: with it, a start takes half as much of a processor.
 * `classes` are the arguments of a JVM that reads the archive.
 */
export async function prepareKafka(): Promise<{ name: string; classes: readonly string[] }> {
  const { name, key } = await fetchKafka();
  // Another Java would ignore the archive.
  const java = fingerprint(realpathSync(onPath("java") ?? ""));
  const folder = await cached(`${key}-classes-${java}`, async (making) => {
    const place = { dir: making };
    const data = dataFolder(place, "kafka");
    const cluster = { id: newClusterId(), controllerPorts: [await freePort()] };
    const node = { nodeId: firstNode, role: "broker,controller", cluster, guards: [] } as const;
    const written = `-XX:ArchiveClassesAtExit=${join(making, archive)}`;
    const server = await startJava(place, data, node, [written]);
    await server.process.stop();
    rmSync(data, { recursive: true });
  });
  const file = join(folder, archive);
  return { name, classes: existsSync(file) ? [`-XX:SharedArchiveFile=${file}`] : [] };
}

const archive = "kafka.jsa";

async function startJava(
  place: ServerPlace,
  folder: string,
  node: Node,
  classes: readonly string[],
): Promise<RunningKafka> {
  const { name, classPath } = await fetchKafka();
  const { cluster } = node;
  const port = place.port ?? (await freePort());
  const settings = join(folder, "server.properties");
  const guarded = new Map<string, readonly string[]>();
  for (const guard of node.guards) guarded.set(guard.name, [`${loopback}:${await freePort()}`]);
  writeFileSync(settings, properties({ ...node, port, folder, guarded }));
  const java = (...args: readonly string[]) => [...jvm, ...classes, "-cp", classPath, ...args];
  if (!existsSync(metaOf(folder))) {
    // One argument, since an id that begins with a dash would be taken for an option.
    const id = `--cluster-id=${cluster.id}`;
    await run("java", java("kafka.tools.StorageTool", "format", id, "-c", settings));
  }

  const args = java("kafka.Kafka", settings);
  const isReady = (output: string) => output.includes(started);
  const command = { name, file: "java", args, cwd: folder };
  const server = new ServerProcess(command, isReady, place);
  await server.start();
  const brokers = [addressOf(node.known ?? { host: loopback, port })];
  return { name, host: loopback, port, process: server, brokers, guarded, cluster };
}

const addressOf = ({ host, port }: Address): string => `${host}:${port}`;

type Places = Node &
  Pick<RunningKafka, "guarded"> & { readonly port: number; readonly folder: string };

function properties({ nodeId, role, cluster, port, folder, known, ...more }: Places): string {
  const { guards, guarded, settings: further } = more;
  const others = [...guarded].map(([name, brokers]) => `${name}://${brokers.join()}`);
  const own = { host: loopback, port };
  const listener = [`PLAINTEXT://${addressOf(own)}`, ...others].join();
  const protocols = guards.map(({ name, protocol }) => `,${name}:${protocol}`).join("");
  const controllers = cluster.controllerPorts.map((at) => addressOf({ host: loopback, port: at }));
  const copies = controllers.length;
  const inStep = Math.min(copies, 2);
  const settings = {
    "process.roles": role,
    "node.id": nodeId,
    "controller.quorum.voters": controllers.map((at, i) => `${firstNode + i}@${at}`).join(),
    "controller.listener.names": "CONTROLLER",
    listeners:
      role === "broker" ? listener : `${listener},CONTROLLER://${controllers[nodeId - firstNode]}`,
    "advertised.listeners": [`PLAINTEXT://${addressOf(known ?? own)}`, ...others].join(),
    "listener.security.protocol.map": `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${protocols}`,
    "log.dirs": join(folder, "log"),
    "auto.create.topics.enable": false,

    "default.replication.factor": copies,
    "min.insync.replicas": inStep,
    "offsets.topic.replication.factor": copies,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": copies,
    "transaction.state.log.min.isr": inStep,
    "share.coordinator.state.topic.replication.factor": copies,
    "share.coordinator.state.topic.min.isr": inStep,

    // Default: the first member of a group waits 3 s for more members, and a commit 5 ms for more commits.
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,
    // Tests kill members and await the consequences.
    "group.min.session.timeout.ms": 1_000,
    // With the default 9 s the same node id cannot come back for 12 s after a `kill -9`.
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 250,
    ...Object.fromEntries(guards.flatMap(settingsOf)),
    ...further,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

const settingsOf = ({ name, settings }: Guard): readonly (readonly [string, string])[] =>
  Object.entries(settings).map(([key, value]) => [
    `listener.name.${name.toLowerCase()}.${key}`,
    value,
  ]);
