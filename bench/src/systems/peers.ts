/** Starts the peers: programs of `peers`, each in a process of its own. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child, keepCode } from "./child.ts";
import { startRedis } from "./redis.ts";
import { answersOk, type System, type SystemName } from "./system.ts";

const startMsMax = 15_000;

/** The yardstick: node:http and undici, storing nothing. No durable service on the same host can be much cheaper. */
export const startRelay = (): Promise<System> => startPeer("bare relay", "relay.ts");
/** The yardstick of messages: durable, signed deliveries by Posthaste's parts. */
export const startLeast = (): Promise<System> => startInFolder("the least", "least.ts");
export const startLeastInThreads = (): Promise<System> =>
  startInFolder("the least, in two threads", "least-in-threads.ts");
/** The yardstick of runs: durable steps and nothing else. */
export const startOrchestrator = (): Promise<System> =>
  startInFolder("bare orchestrator", "orchestrator.ts");

/** BullMQ on Redis with an append-only file, and one worker in the process that accepts. */
export async function startBullMq(): Promise<System> {
  const data = dataFolder();
  const redis = await startRedis(data.path);
  const peer = await startPeer("BullMQ", "bullmq.ts", String(redis.port));
  const stop = async (): Promise<void> => {
    await peer.stop();
    await redis.stop();
    data.remove();
  };
  return { ...peer, pids: [...peer.pids, redis.pid], stop };
}

async function startInFolder(name: SystemName, file: string): Promise<System> {
  const data = dataFolder();
  const peer = await startPeer(name, file, data.path);
  const stop = async (): Promise<void> => {
    await peer.stop();
    data.remove();
  };
  return { ...peer, stop };
}

async function startPeer(name: SystemName, file: string, ...args: string[]): Promise<System> {
  const port = await freePort();
  const path = join(import.meta.dirname, "../peers", file);
  const child = new Child({
    name,
    file: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", keepCode, path, String(port), ...args],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  return { name, port, pids: [child.pid], stop: () => child.stop(), output: () => child.output };
}
