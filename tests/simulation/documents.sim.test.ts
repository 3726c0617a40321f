/** The six services over the unchanged adapter of MongoDB: the order in which it writes its documents holds, whatever comes between. */
import { describe, expect, it } from "@jest/globals";
import { simulateRuns } from "./runs/simulate.ts";
import { Histories, seedsOf } from "./histories.fixture.ts";
import { simulate } from "./simulate.ts";

const messages = seedsOf({ all: 100, rotating: 5, found: [4, 83], perGroup: 20 });
const runs = seedsOf({ all: 60, rotating: 4, found: [18, 147], perGroup: 20 });

const histories = new Histories();

describe("the six services over the adapter of MongoDB", () => {
  histories.testEach(
    "keep their promises whichever call is cut between two writes, from seed %i on",
    messages,
    (seed) => simulate({ seed, documents: true }),
  );
  histories.testEach(
    "bring each run to its result whichever call is cut between two writes, from seed %i on",
    runs,
    (seed) => simulateRuns({ seed, documents: true }),
  );

  it("deliver messages, and each kind of fault occurs", () => {
    for (const what of ["acked", "canceled", "takeovers", "slots", "runs.succeeded"])
      expect([what, histories.total(what) > 0]).toEqual([what, true]);
    for (const fault of ["crash", "restart", "pause", "slow", "failed", "clock", "flush", "hint"])
      expect([fault, histories.total(`fault.${fault}`) > 0]).toEqual([fault, true]);
    expect(histories.total("statements cut")).toBeGreaterThan(0);
  });

  it("have the same history when the same seed is run again", async () => {
    const [first] = histories.all;
    if (!first) throw new Error("no history was simulated");

    expect((await simulate({ seed: first.seed, documents: true })).digest).toBe(first.digest);
  });
});
