/** Kafka (KRaft) on this host only: one node that is both broker and controller, and further brokers that join it. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchKafka } from "../fetch/kafka.ts";
import { freePort, loopback } from "../process/ports.ts";
import { run } from "../process/run.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type RunningServer, type ServerPlace, dataFolder } from "./place.ts";

export type RunningKafka = RunningServer & {
  readonly brokers: readonly string[];
  /** Brokers by the name of a further listener. */
  readonly guarded: ReadonlyMap<string, readonly string[]>;
  /** The data that another broker needs in order to join. */
  readonly cluster: Cluster;
};
type Cluster = { readonly id: string; readonly controllerPort: number };

export type Guard = {
  /** In capital letters. */
  readonly name: string;
  readonly protocol: "SSL" | "SASL_SSL";
  /** Settings by their names in server.properties after the listener's name. */
  readonly settings: Readonly<Record<string, string>>;
};

const jvm = ["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const started = "Kafka Server started";

export async function startKafka(
  place: ServerPlace,
  guards: readonly Guard[] = [],
): Promise<RunningKafka> {
  const controllerPort = await freePort();
  const folder = dataFolder(place, "kafka");
  const cluster = { id: clusterIdIn(folder) ?? newClusterId(), controllerPort };
  const node = { nodeId: firstNode, role: "broker,controller", cluster, guards } as const;
  return startNode(place, folder, node);
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
};

async function startNode(place: ServerPlace, folder: string, node: Node): Promise<RunningKafka> {
  const { name, classPath } = await fetchKafka();
  const { cluster } = node;
  const port = place.port ?? (await freePort());
  const settings = join(folder, "server.properties");
  const guarded = new Map<string, readonly string[]>();
  for (const guard of node.guards) guarded.set(guard.name, [`${loopback}:${await freePort()}`]);
  writeFileSync(settings, properties({ ...node, port, folder, guarded }));
  const java = (...args: readonly string[]) => [...jvm, "-cp", classPath, ...args];
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
  const brokers = [`${loopback}:${port}`];
  return { name, host: loopback, port, process: server, brokers, guarded, cluster };
}

type Places = Node &
  Pick<RunningKafka, "guarded"> & { readonly port: number; readonly folder: string };

function properties({ nodeId, role, cluster, port, folder, guards, guarded }: Places): string {
  const others = [...guarded].map(([name, brokers]) => `${name}://${brokers.join()}`);
  const listener = [`PLAINTEXT://${loopback}:${port}`, ...others].join();
  const protocols = guards.map(({ name, protocol }) => `,${name}:${protocol}`).join("");
  const controller = `${loopback}:${cluster.controllerPort}`;
  const settings = {
    "process.roles": role,
    "node.id": nodeId,
    "controller.quorum.voters": `${firstNode}@${controller}`,
    "controller.listener.names": "CONTROLLER",
    listeners: role === "broker" ? listener : `${listener},CONTROLLER://${controller}`,
    "advertised.listeners": listener,
    "listener.security.protocol.map": `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${protocols}`,
    "log.dirs": join(folder, "log"),
    "auto.create.topics.enable": false,

    // One node can keep one copy.
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,

    // Default: the first member of a group waits 3 s for more members, and a commit 5 ms for more commits.
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,
    // Tests kill members and await the consequences.
    "group.min.session.timeout.ms": 1_000,
    // With the default 9 s the same node id cannot come back for 12 s after a `kill -9`.
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 250,
    ...Object.fromEntries(guards.flatMap(settingsOf)),
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
