/** The other yardstick: what a durable, signed delivery costs at least, out of the parts that Posthaste is made of. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 10_000;

export async function startLeast(): Promise<System> {
  const data = dataFolder();
  const port = await freePort();
  const child = new Child({
    name: "the least",
    file: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      join(import.meta.dirname, "../peers/least.ts"),
      String(port),
      data.path,
    ],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  const stop = async () => {
    await child.stop();
    data.remove();
  };
  return { name: "the least", port, pids: [child.pid], stop, output: () => child.output };
}
