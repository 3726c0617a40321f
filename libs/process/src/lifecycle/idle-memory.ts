/**
 * Gives memory back to the host while the process has nothing to do. V8 collects as the heap grows, so the garbage of a burst stays resident
 * until the next burst: 190 of 410 MiB after a million publishes.
 */
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { readonly type: "major"; readonly flavor: "last-resort" }) => void;

const lookEveryMs = 5_000;
const idleShareMax = 0.02;
/**
 * The growth of the heap that is worth a collection, which takes about half a millisecond a MiB and discards compiled
 * code (ADR 224): half of the heap that the last one left, and at least this, which plain publishes do not reach.
 */
const grownBytesMin = 64 * 1024 * 1024;

/** Looks at the heap every `everyMs`, and collects once the event loop has been idle in between. Returns a function that ends this. */
export function giveMemoryBackWhenIdle(everyMs = lookEveryMs): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  let sample = performance.eventLoopUtilization();
  let heldBytes = process.memoryUsage().heapTotal;
  // V8 keeps the pages of a heap that has shrunk.
  let highestBytes = heldBytes;
  const timer = setInterval(() => {
    highestBytes = Math.max(highestBytes, process.memoryUsage().heapTotal);
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, sample);
    sample = current;
    if (utilization > idleShareMax) return;
    if (highestBytes - heldBytes < Math.max(grownBytesMin, heldBytes / 2)) return;
    collect({ type: "major", flavor: "last-resort" });
    heldBytes = process.memoryUsage().heapTotal;
    highestBytes = heldBytes;
  }, everyMs).unref();
  return () => clearInterval(timer);
}
