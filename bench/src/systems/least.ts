/** The other yardstick: the least cost of a durable, signed delivery with Posthaste's parts. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child, keepCode } from "./child.ts";
import { answersOk, type StartSystem, type System, type SystemName } from "./system.ts";

const startMsMax = 10_000;

export const startLeast: StartSystem = () => start("the least", "least.ts");
export const startLeastInThreads: StartSystem = () =>
  start("the least, in two threads", "least-in-threads.ts");

async function start(name: SystemName, peer: string): Promise<System> {
  const data = dataFolder();
  const port = await freePort();
  const child = new Child({
    name,
    file: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      keepCode,
      join(import.meta.dirname, "../peers", peer),
      String(port),
      data.path,
    ],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  const stop = async () => {
    await child.stop();
    data.remove();
  };
  return { name, port, pids: [child.pid], stop, output: () => child.output };
}
