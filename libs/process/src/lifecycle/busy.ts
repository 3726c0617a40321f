/** Reports whether the event loop of this process has time to spare. */
import { performance } from "node:perf_hooks";

const sampleMsMin = 50;

/**
 * Returns a function that reports whether the event loop ran for at least `busyShare` of the time between its last
 * two samples. Only a call takes samples, 50 ms or more apart, so that a process that is not asked does no work for
 * it.
 */
export function createBusyReading(busyShare: number): () => boolean {
  let sampledAt = performance.now();
  let sample = performance.eventLoopUtilization();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - sampledAt < sampleMsMin) return isBusy;
    const current = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(current, sample).utilization >= busyShare;
    sampledAt = now;
    sample = current;
    return isBusy;
  };
}
