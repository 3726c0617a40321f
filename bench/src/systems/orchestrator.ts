/** The yardstick of runs: durable steps and nothing else. */
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder } from "../folders.ts";
import { Child, keepCode } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 10_000;

export async function startOrchestrator(): Promise<System> {
  const port = await freePort();
  const data = dataFolder();
  const child = new Child({
    name: "bare orchestrator",
    file: process.execPath,
    args: [
      keepCode,
      join(import.meta.dirname, "../peers/orchestrator.ts"),
      String(port),
      data.path,
    ],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  return {
    name: "bare orchestrator",
    port,
    pids: [child.pid],
    stop: async () => {
      await child.stop();
      data.remove();
    },
    output: () => child.output,
  };
}
