/** A Redis Cluster on this host: masters that share the slots, and replicas that take over within seconds. */
import { join } from "node:path";
import { freePort } from "../process/ports.ts";
import { askRedis, untilRedis } from "./ask-redis.ts";
import { type ServerPlace } from "./place.ts";
import { type RedisTls, type RunningRedis, startRedis, tlsOn, urlOf } from "./redis.ts";

export type RunningRedisCluster = {
  readonly name: string;
  readonly url: string;
  /** The masters, each with an equal share of the slots. A replica has the index of its master. */
  readonly masters: readonly RunningRedis[];
  readonly replicas: readonly RunningRedis[];
  join(): Promise<RunningRedis>;
  stop(): Promise<void>;
};

export type RedisClusterOptions = Pick<ServerPlace, "dir"> & {
  readonly masters: number;
  readonly hasReplicas?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** With it, `url` names the ports for TLS. The nodes' own addresses stay without. */
  readonly tls?: RedisTls;
};

type Node = RunningRedis & {
  /** The address by which other nodes and clients of the cluster know the node. */
  readonly known: Pick<RunningRedis, "port" | "url">;
};

const slotsTotal = 16_384;

export async function startRedisCluster(
  options: RedisClusterOptions,
): Promise<RunningRedisCluster> {
  const { masters: count, hasReplicas = false } = options;
  const total = hasReplicas ? 2 * count : count;
  const nodes = await Promise.all(Array.from({ length: total }, (_, i) => startNode(options, i)));
  const [masters, replicas] = [nodes.slice(0, count), nodes.slice(count)];
  for (const [i, { port }] of masters.entries()) {
    const [from, to] = [i, i + 1].map((at) => Math.floor((at * slotsTotal) / count));
    await must(port, "CLUSTER", "ADDSLOTSRANGE", `${from}`, `${Number(to) - 1}`);
  }
  for (const [i, { port }] of nodes.entries())
    await must(port, "CLUSTER", "SET-CONFIG-EPOCH", `${i + 1}`);
  const [first] = nodes;
  if (first === undefined) throw new Error("a cluster has at least one master");
  for (const node of nodes.slice(1)) await meet(first, node);
  await allKnow(nodes);
  for (const [i, { port }] of replicas.entries()) {
    await must(port, "CLUSTER", "REPLICATE", await nodeIdOf(masters[i]));
    await untilRedis(port, ["INFO", "replication"], (info) => info.includes("link_status:up"));
  }
  await Promise.all(nodes.map(({ port }) => untilRedis(port, ["CLUSTER", "INFO"], isWhole)));
  const extra: RunningRedis[] = [];
  return {
    name: `${first.name} Cluster`,
    url: urlOf(nodes.map((node) => ({ ...node, ...node.known }))),
    masters,
    replicas,
    join: async () => {
      const node = await startNode(options, total + extra.length);
      extra.push(node);
      await meet(first, node);
      await allKnow([...nodes, ...extra]);
      await untilRedis(node.port, ["CLUSTER", "INFO"], isWhole);
      return node;
    },
    stop: async () => {
      await Promise.all([...nodes, ...extra].map((node) => node.process.kill()));
    },
  };
}

async function startNode(
  { dir, settings, tls }: RedisClusterOptions,
  number: number,
): Promise<Node> {
  const place = { dir: join(dir, `redis-node-${number}`) };
  const ports = await tlsOn(tls);
  const node = await startRedis(place, {
    "cluster-enabled": "yes",
    "cluster-port": String(await freePort()),
    "cluster-node-timeout": "1000",
    // A replica takes over even after a long separation, as the suites expect.
    "cluster-replica-validity-factor": "0",
    // A master without slots stays a master.
    "cluster-allow-replica-migration": "no",
    ...(ports && { ...ports.settings, "tls-cluster": "yes" }),
    ...settings,
  });
  return { ...node, known: ports ?? node };
}

async function meet(first: RunningRedis, { port, known }: Node): Promise<void> {
  const info = await askRedis(port, "CONFIG", "GET", "cluster-port");
  const busPort = /\r\n(\d+)\r\n$/.exec(info)?.[1] ?? "";
  await must(first.port, "CLUSTER", "MEET", first.host, `${known.port}`, busPort);
}

async function allKnow(nodes: readonly RunningRedis[]): Promise<void> {
  const known = `cluster_known_nodes:${nodes.length}`;
  await Promise.all(
    nodes.map(({ port }) => untilRedis(port, ["CLUSTER", "INFO"], (info) => info.includes(known))),
  );
}

export async function nodeIdOf(node: RunningRedis | undefined): Promise<string> {
  if (node === undefined) throw new Error("there is no such node");
  const answer = await askRedis(node.port, "CLUSTER", "MYID");
  return /\b[0-9a-f]{40}\b/.exec(answer)?.[0] ?? "";
}

const isWhole = (info: string): boolean => info.includes("cluster_state:ok");

async function must(port: number, ...words: readonly string[]): Promise<void> {
  const answer = await askRedis(port, ...words);
  if (!answer.startsWith("+OK")) throw new Error(`${words.join(" ")}: ${answer}`);
}
