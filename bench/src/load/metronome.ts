/**
 * Calls at a steady rate, late by tens of microseconds. Node's own timers are late by up to a millisecond, which is more than
 * a fast system takes for a whole delivery.
 */
import { Worker } from "node:worker_threads";

export type Beat = { readonly startNs: bigint; readonly everyNs: bigint; readonly beats: number };

/** Beats to ask for beyond the need: by the caller's clock a beat may come slightly before the work that is due with it. */
export const spareBeats = 20;

/** Long enough for the thread to start. */
const leadMs = 100;

export type Metronome = {
  /** The time of the first beat, by `performance.now()`. */
  readonly startAt: number;
  stop(): Promise<number>;
};

export function startMetronome(perSecond: number, beats: number, beat: () => void): Metronome {
  const startNs = process.hrtime.bigint() + BigInt(leadMs * 1_000_000);
  const startAt = performance.now() + leadMs;
  const workerData: Beat = { startNs, everyNs: BigInt(Math.round(1e9 / perSecond)), beats };
  const worker = new Worker(new URL("./metronome-worker.ts", import.meta.url), { workerData });
  worker.on("message", beat);
  return { startAt, stop: () => worker.terminate() };
}
