import { describe, expect, it } from "@jest/globals";
import { systemRandom } from "./random.ts";

describe("the system's random", () => {
  it("gives texts of the given length, of letters and digits only", () => {
    const random = systemRandom();

    for (const length of [0, 1, 17, 100_000]) {
      const text = random.text(length);

      expect(text).toHaveLength(length);
      expect(text).toMatch(/^[0-9A-Za-z]*$/);
    }
  });

  it("gives every character the same chance", () => {
    const counts = new Map<string, number>();
    const drawn = 620_000;

    for (const character of systemRandom().text(drawn)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }

    expect(counts.size).toBe(62);
    // 10,000 are expected, with a standard deviation of 99, so this allows eight deviations. Without rejection eight
    // characters would have 12,500.
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(800);
  });

  it("never gives the same text twice across pools", () => {
    const random = systemRandom();

    const texts = new Set(Array.from({ length: 5_000 }, () => random.text(17)));

    expect(texts.size).toBe(5_000);
  });
});
