import { describe, expect, it } from "@jest/globals";
import { shareOf, wholeOf } from "./shares.ts";

describe("the share of one holder", () => {
  it.each([
    { max: 1_000, others: 0, share: 750 },
    { max: 1_000, others: 750, share: 187.5 },
    { max: 1_000, others: 1_000, share: 0 },
    // Small maxima leave a share, too.
    { max: 1, others: 0, share: 0.75 },
    { max: 2, others: 1, share: 0.75 },
  ])("of $max is $share when others have $others", ({ max, others, share }) => {
    expect(shareOf(max, others)).toBe(share);
  });

  it.each([1, 2, 10, 100])(
    "leaves room for the next, when %i take all that they may",
    (holders) => {
      const max = 1_000;
      const held = Array.from({ length: holders }, () => 0);
      const all = (): number => held.reduce((sum, n) => sum + n, 0);
      for (let round = 0; round < max; round++)
        for (const [holder, n] of held.entries())
          if (n < shareOf(max, all() - n)) held[holder] = n + 1;

      expect(0).toBeLessThan(shareOf(max, all()));
      expect(all()).toBeLessThan(max);
    },
  );

  it("of a whole is the part that it was made for", () => {
    const parts = Array.from({ length: 10_000 }, (_, n) => n + 1);

    // Takes are granted while fewer than the share are held.
    expect(parts.filter((part) => Math.ceil(shareOf(wholeOf(part), 0)) < part)).toEqual([]);
  });
});
