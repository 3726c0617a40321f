/** The six services over the unchanged adapter of MongoDB: the order in which it writes its documents holds, whatever comes between. */
import { describe, expect, it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { simulateRuns } from "./runs/simulate.ts";
import { seedsOf } from "./seeds.fixture.ts";
import { simulate, type Simulated } from "./simulate.ts";

const messages = seedsOf({ all: 100, rotating: 5, found: [4, 83], perGroup: 20 });
const runs = seedsOf({ all: 60, rotating: 4, found: [18, 147], perGroup: 20 });
const timeoutMs = 120_000;
const traceLinesMax = 60;

const all: Simulated[] = [];

function holds(simulated: Simulated): void {
  all.push(simulated);
  if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
}

describe("the six services over the adapter of MongoDB", () => {
  it.each(messages.groups.map((seeds) => [seeds[0], seeds] as const))(
    "keep their promises whichever call is cut between two writes, from seed %i on",
    async (_, seeds) => {
      for (const seed of seeds) holds(await simulate({ seed, documents: true }));
    },
    timeoutMs,
  );

  it.each(runs.groups.map((seeds) => [seeds[0], seeds] as const))(
    "bring each run to its result whichever call is cut between two writes, from seed %i on",
    async (_, seeds) => {
      for (const seed of seeds) holds(await simulateRuns({ seed, documents: true }));
    },
    timeoutMs,
  );

  it("have been busy, and have met each kind of fault", () => {
    const total = (what: string): number =>
      all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);

    for (const what of ["acked", "canceled", "takeovers", "slots", "runs.succeeded"])
      expect([what, total(what) > 0]).toEqual([what, true]);
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"])
      expect([fault, total(`fault.${fault}`) > 0]).toEqual([fault, true]);
    expect(total("statements cut")).toBeGreaterThan(0);
  });

  it("have the same history when the same seed is run again", async () => {
    const [first] = all;
    if (!first) throw new Error("no history was simulated");

    expect((await simulate({ seed: first.seed, documents: true })).digest).toBe(first.digest);
  });
});
