import { describe, expect, it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { simulateRuns } from "./runs/simulate.ts";
import { type Simulated } from "./simulate.ts";

const seedsPerTest = 30;
const firstSeeds = [1, 31, 61];
const timeoutMs = 120_000;
const traceLinesMax = 60;

const all: Simulated[] = [];

describe("a simulated installation with runs", () => {
  it.each(firstSeeds)(
    "brings each to its result whatever goes wrong, from seed %i on",
    async (first) => {
      for (let seed = first; seed < first + seedsPerTest; seed++) {
        const simulated = await simulateRuns({ seed });
        all.push(simulated);
        if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
      }
    },
    timeoutMs,
  );

  it("has been busy: an idle one breaks no promise", () => {
    const total = (what: string): number =>
      all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);

    for (const [what, least] of [
      ["succeeded", 500],
      ["failed", 100],
      ["canceled", 80],
      ["groups", 400],
      ["notes", 50],
      ["told", 500],
      ["repeats", 200],
      ["reused", 10],
    ] as const)
      expect([what, total(`runs.${what}`) >= least]).toEqual([what, true]);
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"])
      expect([fault, total(`fault.${fault}`) >= 50]).toEqual([fault, true]);
    for (const store of ["model", "embedded"])
      expect(all.filter((each) => each.store === store).length).toBeGreaterThanOrEqual(15);
  });

  it("has the same history when the same seed is run again", async () => {
    for (const { seed, digest } of all.slice(0, 8))
      expect((await simulateRuns({ seed })).digest).toBe(digest);
  });
});
