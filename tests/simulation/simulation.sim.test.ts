import { describe, expect, it } from "@jest/globals";
import { Histories, timeoutMs, seedsOf } from "./histories.fixture.ts";
import { simulate } from "./simulate.ts";

const seeds = seedsOf({
  all: 200,
  rotating: 40,
  found: [122, 195, 202, 831_658],
  perGroup: 20,
});

const { atLeast } = seeds;
const histories = new Histories();
const { all } = histories;

describe("a simulated installation", () => {
  histories.testEach("keeps its promises whatever goes wrong, from seed %i on", seeds, (seed) =>
    simulate({ seed }),
  );

  it("is busy, since an idle one breaks no promise", () => {
    const planned = all.reduce((sum, { planned }) => sum + planned, 0);

    expect(histories.total("acked")).toBeGreaterThanOrEqual(0.8 * planned);
    expect(histories.total("fenced")).toBeGreaterThanOrEqual(atLeast(10));
    expect(histories.total("takeovers")).toBeGreaterThanOrEqual(atLeast(200));
    expect(histories.total("repeats")).toBeGreaterThanOrEqual(atLeast(50));
    expect(histories.total("canceled")).toBeGreaterThanOrEqual(atLeast(100));
    expect(histories.total("reads")).toBeGreaterThanOrEqual(atLeast(500));
    expect(histories.total("failureCallbacks")).toBeGreaterThanOrEqual(atLeast(100));
    expect(histories.total("batched")).toBeGreaterThanOrEqual(atLeast(500));
    expect(histories.total("retriedLetters")).toBeGreaterThanOrEqual(atLeast(100));
    expect(histories.total("slots")).toBeGreaterThanOrEqual(atLeast(300));
    expect(histories.total("slotsMadeUp")).toBeGreaterThanOrEqual(atLeast(20));
    expect(histories.total("slotsSkipped")).toBeGreaterThanOrEqual(atLeast(20));
    expect(histories.total("scheduleRests")).toBeGreaterThanOrEqual(atLeast(100));
    for (const next of ["delivered", "failed", "held", "waiting"]) {
      expect(histories.total(`settled.${next}`)).toBeGreaterThanOrEqual(atLeast(100));
    }
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"]) {
      expect(histories.total(`fault.${fault}`)).toBeGreaterThanOrEqual(atLeast(100));
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
