import { expect, it } from "@jest/globals";
import { GCProfiler, type GCProfilerResult, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { TurnoverMap } from "./turnover-map.ts";

const change = fc.record({
  what: fc.constantFrom("set", "delete"),
  key: fc.integer({ min: 0, max: 8 }),
  value: fc.integer(),
});

it("holds what a Map would, oldest key first", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const map = new Map<number, number>();
      const turnover = new TurnoverMap<number, number>();
      for (const { what, key, value } of changes) {
        for (const one of [map, turnover]) {
          if (what === "set") one.set(key, value);
          else one.delete(key);
        }
        expect(turnover.size).toBe(map.size);
        expect(turnover.has(key)).toBe(map.has(key));
        expect(turnover.get(key)).toBe(map.get(key));
        expect([...turnover.keys()]).toEqual([...map.keys()]);
        expect([...turnover.values()].toSorted()).toEqual([...map.values()].toSorted());
      }
    }),
  );
});

it("lets what has left it go with the young generation", () => {
  expect(grownOldIn(new TurnoverMap())).toBeLessThan(weight / 10);
  // A plain Map must fail this test, or `TurnoverMap` is not needed any more.
  expect(grownOldIn(new Map())).toBeGreaterThan(weight / 4);
});

const entries = 100_000;
const entryBytes = 1_000;
const weight = entries * entryBytes;

/** Returns the bytes that young collections moved to the old generation while entries passed through in hundreds. */
function grownOldIn(map: {
  set(key: number, value: unknown): unknown;
  delete(key: number): unknown;
}): number {
  map.set(0, "old");
  collectAll();
  collectAll();
  const profiler = new GCProfiler();
  profiler.start();
  for (let i = 1; i <= entries; i += 100) {
    for (let j = i; j < i + 100; j++) map.set(j, new Array<number>(entryBytes / 8).fill(j));
    for (let j = i; j < i + 100; j++) map.delete(j);
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
