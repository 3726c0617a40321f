import { GCProfiler, type GCProfilerResult, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const entryBytes = 1_000;
const entries = 100_000;
const atOnce = 100;

export const passingBytes = entries * entryBytes;

/**
 * Lets values of a kilobyte pass through a collection, a hundred at once, and returns the bytes that young
 * collections moved to the old generation meanwhile. `enter` returns a function that removes the value.
 */
export function grownOldIn(enter: (value: unknown, key: number) => () => void): number {
  enter("old", 0);
  collectAll();
  collectAll();
  const profiler = new GCProfiler();
  profiler.start();
  for (let first = 1; first <= entries; first += atOnce) {
    const leave = Array.from({ length: atOnce }, (_, n) =>
      enter(new Array<number>(entryBytes / 8).fill(n), first + n),
    );
    for (const each of leave) each();
  }
  return profiler
    .stop()
    .statistics.filter(({ gcType }) => gcType === "Scavenge")
    .reduce((sum, { beforeGC, afterGC }) => sum + oldBytes(afterGC) - oldBytes(beforeGC), 0);
}

function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  gc();
}

const oldBytes = ({ heapSpaceStatistics }: GCProfilerResult["statistics"][number]["afterGC"]) =>
  heapSpaceStatistics.find(({ spaceName }) => spaceName === "old_space")?.spaceUsedSize ?? 0;
