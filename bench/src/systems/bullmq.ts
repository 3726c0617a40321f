/** The peer: BullMQ on Redis with an append-only file, and one worker in the process that accepts. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child, keepCode } from "./child.ts";
import { startRedis } from "./redis.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 15_000;

export async function startBullMq(): Promise<System> {
  const data = dataFolder();
  const redis = await startRedis(data.path);
  const port = await freePort();
  const child = new Child({
    name: "BullMQ",
    file: process.execPath,
    args: [
      keepCode,
      join(import.meta.dirname, "../peers/bullmq.ts"),
      String(port),
      String(redis.port),
    ],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  const stop = async () => {
    await child.stop();
    await redis.stop();
    data.remove();
  };
  return { name: "BullMQ", port, pids: [child.pid, redis.pid], stop, output: () => child.output };
}
