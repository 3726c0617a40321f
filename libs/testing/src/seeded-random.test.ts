import { describe, expect, it } from "@jest/globals";
import { dice, seededRandom } from "./seeded-random.ts";

const throws = (seed: number) => {
  const { fraction, integer, chance, pick, shuffled, bytes, fork } = dice(seed);
  return [
    fraction(),
    integer(1, 6),
    chance(0.5),
    pick(["a", "b", "c"]),
    shuffled([1, 2, 3, 4]),
    bytes(4),
    fork().fraction(),
  ];
};

describe("chance from a seed", () => {
  it("is the same for the same seed and another for another", () => {
    expect(throws(1)).toEqual(throws(1));
    expect(throws(1)).not.toEqual(throws(2));
    expect(seededRandom(1).text(40)).toBe(seededRandom(1).text(40));
    expect(seededRandom(1).text(40)).not.toBe(seededRandom(2).text(40));
  });

  it("stays within its bounds and reaches all of them", () => {
    const { integer, fraction } = dice(3);
    const seen = new Set(Array.from({ length: 1_000 }, () => integer(1, 6)));
    const fractions = Array.from({ length: 10_000 }, fraction);

    expect([...seen].toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(fractions.every((each) => each >= 0 && each < 1)).toBe(true);
    expect(fractions.reduce((sum, each) => sum + each, 0) / 10_000).toBeCloseTo(0.5, 1);
  });

  it("gives texts of letters and digits, of the given length", () => {
    expect(seededRandom(1).text(1_000)).toMatch(/^[0-9A-Za-z]{1000}$/);
    expect(seededRandom(1).text(0)).toBe("");
  });

  it("shuffles without losing anything", () => {
    const items = Array.from({ length: 100 }, (_, i) => i);
    const shuffled = dice(1).shuffled(items);

    expect(shuffled).not.toEqual(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(items);
  });
});
