/** The metronome's thread. Sleeps to a fraction of a millisecond, which an event loop's timers cannot. */
import { parentPort, workerData } from "node:worker_threads";
import { type Beat } from "./metronome.ts";

const { startNs, everyNs, beats } = beatOf(workerData);
const never = new Int32Array(new SharedArrayBuffer(4));
for (let beat = 0; beat < beats; beat++) {
  const waitNs = startNs + BigInt(beat) * everyNs - process.hrtime.bigint();
  if (waitNs > 0n) Atomics.wait(never, 0, 0, Number(waitNs) / 1e6);
  parentPort?.postMessage(beat);
}

function beatOf(data: unknown): Beat {
  if (!isBeat(data)) throw new Error("a metronome needs an interval");
  return data;
}

function isBeat(data: unknown): data is Beat {
  return typeof data === "object" && data !== null && "startNs" in data;
}
