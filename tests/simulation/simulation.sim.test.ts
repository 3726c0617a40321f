import { describe, expect, it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { simulate, type Simulated } from "./simulate.ts";

/** 200 seeds, among them those that found a bug, in tests of a size that says where it hurts and keeps each well within its time. */
const seedsPerTest = 25;
const firstSeeds = Array.from({ length: 8 }, (_, i) => 1 + i * seedsPerTest);
const timeoutMs = 120_000;
const traceLinesMax = 60;

const all: Simulated[] = [];

async function holds(seed: number): Promise<void> {
  const simulated = await simulate({ seed });
  all.push(simulated);
  if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
}

describe("a simulated installation", () => {
  it.each(firstSeeds)(
    "keeps its promises whatever goes wrong, from seed %i on",
    async (first) => {
      for (let seed = first; seed < first + seedsPerTest; seed++) await holds(seed);
    },
    timeoutMs,
  );

  it("has been busy: an idle one breaks no promise", () => {
    const total = (what: string): number =>
      all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
    const planned = all.reduce((sum, { planned }) => sum + planned, 0);

    expect(all.length).toBeGreaterThanOrEqual(200);
    expect(total("acked")).toBeGreaterThanOrEqual(0.9 * planned);
    expect(total("fenced")).toBeGreaterThanOrEqual(10);
    expect(total("takeovers")).toBeGreaterThanOrEqual(200);
    expect(total("repeats")).toBeGreaterThanOrEqual(50);
    expect(total("canceled")).toBeGreaterThanOrEqual(100);
    expect(total("reads")).toBeGreaterThanOrEqual(500);
    expect(total("failureCallbacks")).toBeGreaterThanOrEqual(100);
    expect(total("batched")).toBeGreaterThanOrEqual(500);
    expect(total("retriedLetters")).toBeGreaterThanOrEqual(100);
    expect(total("slots")).toBeGreaterThanOrEqual(300);
    expect(total("slotsMadeUp")).toBeGreaterThanOrEqual(20);
    expect(total("slotsSkipped")).toBeGreaterThanOrEqual(100);
    expect(total("scheduleRests")).toBeGreaterThanOrEqual(100);
    for (const next of ["delivered", "failed", "held", "waiting"]) {
      expect(total(`settled.${next}`)).toBeGreaterThanOrEqual(100);
    }
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"]) {
      expect(total(`fault.${fault}`)).toBeGreaterThanOrEqual(100);
    }
    for (const [shape, store] of [
      ["distributed", "model"],
      ["distributed", "embedded"],
      ["standalone", "model"],
    ]) {
      expect(
        all.filter((each) => each.shape === shape && each.store === store).length,
      ).toBeGreaterThanOrEqual(20);
    }
  });

  it(
    "has the same history when the same seed is run again",
    async () => {
      for (const { seed, digest } of all.slice(0, 12))
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
