/** One Kafka node, broker and controller in one (KRaft), on this host only. */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchKafka } from "../fetch/kafka.ts";
import { freePort, loopback } from "../process/ports.ts";
import { run } from "../process/run.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type RunningServer, type ServerPlace, dataFolder } from "./place.ts";

export type RunningKafka = RunningServer & { readonly brokers: readonly string[] };

const jvm = ["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const started = "Kafka Server started";

export async function startKafka(place: ServerPlace): Promise<RunningKafka> {
  const { name, classPath } = await fetchKafka();
  const port = place.port ?? (await freePort());
  const folder = dataFolder(place, "kafka");
  const settings = join(folder, "server.properties");
  writeFileSync(settings, properties({ port, controllerPort: await freePort(), folder }));
  const java = (...args: readonly string[]) => [...jvm, "-cp", classPath, ...args];
  if (!existsSync(join(folder, "log/meta.properties"))) {
    const cluster = randomBytes(16).toString("base64url");
    // One word: an id that begins with a dash would be taken for an option.
    const id = `--cluster-id=${cluster}`;
    await run("java", java("kafka.tools.StorageTool", "format", id, "-c", settings));
  }

  const args = java("kafka.Kafka", settings);
  const isReady = (output: string) => output.includes(started);
  const command = { name, file: "java", args, cwd: folder };
  const server = new ServerProcess(command, isReady, place);
  await server.start();
  return { name, host: loopback, port, process: server, brokers: [`${loopback}:${port}`] };
}

type Places = { readonly port: number; readonly controllerPort: number; readonly folder: string };

/** The contents of server.properties. */
function properties({ port, controllerPort, folder }: Places): string {
  const settings = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@${loopback}:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://${loopback}:${port},CONTROLLER://${loopback}:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://${loopback}:${port}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs": join(folder, "log"),
    "auto.create.topics.enable": false,

    // One node can keep one copy.
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,

    // By default the first member of a group waits 3 s for others, and a commit 5 ms for more of them.
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,
    // Tests kill members, and want to see what follows soon.
    "group.min.session.timeout.ms": 1_000,
    // With the default 9 s the same node id cannot come back for 12 s after a `kill -9`.
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 250,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
