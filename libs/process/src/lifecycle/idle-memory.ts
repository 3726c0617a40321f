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
 * The growth of the resident memory that is worth a collection, which takes about half a millisecond a MiB of heap and
 * discards compiled code (ADR 224). Plain publishes do not reach it.
 */
const grownBytesMin = 128 * 1024 * 1024;

/** Looks at the memory every `everyMs`, and collects once the event loop has been idle in between. Returns a function that ends this. */
export function giveMemoryBackWhenIdle(everyMs = lookEveryMs): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  let sample = performance.eventLoopUtilization();
  let heldBytes = process.memoryUsage.rss();
  const timer = setInterval(() => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, sample);
    sample = current;
    const residentBytes = process.memoryUsage.rss();
    // The host gets the memory of a collection back a little later.
    heldBytes = Math.min(heldBytes, residentBytes);
    if (utilization > idleShareMax || residentBytes - heldBytes < grownBytesMin) return;
    collect({ type: "major", flavor: "last-resort" });
    heldBytes = process.memoryUsage.rss();
  }, everyMs).unref();
  return () => clearInterval(timer);
}
