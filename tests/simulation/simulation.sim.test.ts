import { describe, expect, it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { seedsOf } from "./seeds.fixture.ts";
import { simulate, type Simulated } from "./simulate.ts";

const { groups, atLeast } = seedsOf({
  all: 200,
  rotating: 40,
  found: [122, 195, 202, 831_658],
  perGroup: 20,
});
const timeoutMs = 120_000;
const traceLinesMax = 60;

const all: Simulated[] = [];

async function holds(seed: number): Promise<void> {
  const simulated = await simulate({ seed });
  all.push(simulated);
  if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
}

describe("a simulated installation", () => {
  it.each(groups.map((seeds) => [seeds[0], seeds] as const))(
    "keeps its promises whatever goes wrong, from seed %i on",
    async (_, seeds) => {
      for (const seed of seeds) await holds(seed);
    },
    timeoutMs,
  );

  it("has been busy: an idle one breaks no promise", () => {
    const total = (what: string): number =>
      all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
    const planned = all.reduce((sum, { planned }) => sum + planned, 0);

    expect(total("acked")).toBeGreaterThanOrEqual(0.8 * planned);
    expect(total("fenced")).toBeGreaterThanOrEqual(atLeast(10));
    expect(total("takeovers")).toBeGreaterThanOrEqual(atLeast(200));
    expect(total("repeats")).toBeGreaterThanOrEqual(atLeast(50));
    expect(total("canceled")).toBeGreaterThanOrEqual(atLeast(100));
    expect(total("reads")).toBeGreaterThanOrEqual(atLeast(500));
    expect(total("failureCallbacks")).toBeGreaterThanOrEqual(atLeast(100));
    expect(total("batched")).toBeGreaterThanOrEqual(atLeast(500));
    expect(total("retriedLetters")).toBeGreaterThanOrEqual(atLeast(100));
    expect(total("slots")).toBeGreaterThanOrEqual(atLeast(300));
    expect(total("slotsMadeUp")).toBeGreaterThanOrEqual(atLeast(20));
    expect(total("slotsSkipped")).toBeGreaterThanOrEqual(atLeast(20));
    expect(total("scheduleRests")).toBeGreaterThanOrEqual(atLeast(100));
    for (const next of ["delivered", "failed", "held", "waiting"]) {
      expect(total(`settled.${next}`)).toBeGreaterThanOrEqual(atLeast(100));
    }
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"]) {
      expect(total(`fault.${fault}`)).toBeGreaterThanOrEqual(atLeast(100));
    }
    for (const [shape, store] of [
      ["distributed", "model"],
      ["distributed", "embedded"],
      ["standalone", "model"],
    ]) {
      expect(
        all.filter((each) => each.shape === shape && each.store === store).length,
      ).toBeGreaterThanOrEqual(atLeast(20));
    }
  });

  it(
    "has the same history when the same seed is run again",
    async () => {
      for (const { seed, digest } of all.slice(0, atLeast(12) + 2))
        expect((await simulate({ seed })).digest).toBe(digest);
    },
    timeoutMs,
  );

  it("has other histories under other seeds", () => {
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(
      new Set(all.map(({ seed }) => seed)).size,
    );
  });
});
