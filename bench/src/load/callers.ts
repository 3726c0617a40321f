/**
 * Callers that send the next request as soon as they are answered. They have a thread of their own, so that their
 * reading does not delay the measurement.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type System } from "../systems/system.ts";
import { residentMiB } from "../systems/usage.ts";

/** A way by its table and index, since a thread cannot be handed functions. */
export type AskedWay = { readonly of: "lists" | "neighbours"; readonly nth: number };
export type Asking = { readonly port: number; readonly way: AskedWay };

const memoryMs = 50;

export function startCallers({ port, pids }: System, way: AskedWay) {
  const workerData: Asking = { port, way };
  const worker = new Worker(new URL("./callers-worker.ts", import.meta.url), { workerData });
  let residentMax = residentMiB(pids);
  const watch = setInterval(() => {
    residentMax = Math.max(residentMax, residentMiB(pids));
  }, memoryMs);
  return {
    stop: async () => {
      worker.postMessage("stop");
      const [answered] = (await once(worker, "message")) as [number];
      clearInterval(watch);
      await worker.terminate();
      return { residentMiB: residentMax, answered };
    },
  };
}
