import { describe, expect, it } from "@jest/globals";
import { Histories, seedsOf } from "./histories.fixture.ts";
import { simulateRuns } from "./runs/simulate.ts";

const seeds = seedsOf({
  all: 60,
  rotating: 20,
  found: [80, 188, 504, 415_761],
  perGroup: 20,
});

const { atLeast } = seeds;
const histories = new Histories();

describe("a simulated installation with runs", () => {
  histories.testEach(
    "brings each to its result whatever goes wrong, from seed %i on",
    seeds,
    (seed) => simulateRuns({ seed }),
  );

  it("is busy, since an idle one breaks no promise", () => {
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
      expect([what, histories.total(`runs.${what}`) >= atLeast(least)]).toEqual([what, true]);
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"])
      expect([fault, histories.total(`fault.${fault}`) >= atLeast(50)]).toEqual([fault, true]);
    for (const store of ["model", "embedded"])
      expect(histories.all.filter((each) => each.store === store).length).toBeGreaterThanOrEqual(
        atLeast(10),
      );
  });

  it("has the same history when the same seed is run again", async () => {
    for (const { seed, digest } of histories.all.slice(0, atLeast(6) + 2))
      expect((await simulateRuns({ seed })).digest).toBe(digest);
  });
});
