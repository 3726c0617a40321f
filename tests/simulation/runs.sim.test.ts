import { describe, expect, it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { seedsOf } from "./seeds.fixture.ts";
import { simulateRuns } from "./runs/simulate.ts";
import { type Simulated } from "./simulate.ts";

const { groups, atLeast } = seedsOf({
  all: 60,
  rotating: 20,
  found: [80, 188, 504, 415_761],
  perGroup: 20,
});
const timeoutMs = 120_000;
const traceLinesMax = 60;

const all: Simulated[] = [];

async function holds(seed: number): Promise<void> {
  const simulated = await simulateRuns({ seed });
  all.push(simulated);
  if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
}

describe("a simulated installation with runs", () => {
  it.each(groups.map((seeds) => [seeds[0], seeds] as const))(
    "brings each to its result whatever goes wrong, from seed %i on",
    async (_, seeds) => {
      for (const seed of seeds) await holds(seed);
    },
    timeoutMs,
  );

  it("has been busy: an idle one breaks no promise", () => {
    const total = (what: string): number =>
      all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);

    for (const [what, least] of [
      ["succeeded", 250],
      ["failed", 50],
      ["canceled", 20],
      ["groups", 200],
      ["notes", 20],
      ["told", 150],
      ["repeats", 60],
      ["reused", 5],
      ["logged", 10],
      ["redacted", 50],
      ["again.restart", 2],
      ["again.resume", 5],
    ] as const)
      expect([what, total(`runs.${what}`) >= atLeast(least)]).toEqual([what, true]);
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"])
      expect([fault, total(`fault.${fault}`) >= atLeast(50)]).toEqual([fault, true]);
    for (const store of ["model", "embedded"])
      expect(all.filter((each) => each.store === store).length).toBeGreaterThanOrEqual(atLeast(10));
  });

  it("has the same history when the same seed is run again", async () => {
    for (const { seed, digest } of all.slice(0, atLeast(6) + 2))
      expect((await simulateRuns({ seed })).digest).toBe(digest);
  });
});
