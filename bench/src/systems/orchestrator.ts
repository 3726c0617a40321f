/** The yardstick of runs: durable steps and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { Child } from "./child.ts";
import { answersOk, type System } from "./system.ts";

const startMsMax = 10_000;

export async function startOrchestrator(): Promise<System> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "posthaste-bench-"));
  const child = new Child({
    name: "bare orchestrator",
    file: process.execPath,
    args: [join(import.meta.dirname, "../peers/orchestrator.ts"), String(port), folder],
  });
  await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  return {
    name: "bare orchestrator",
    port,
    pids: [child.pid],
    stop: async () => {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    output: () => child.output,
  };
}
