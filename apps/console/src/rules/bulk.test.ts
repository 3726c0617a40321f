import { describe, expect, it } from "@jest/globals";
import { countAll, takeAll } from "./bulk.ts";

const ignore = (): void => undefined;

/** Things that match; what fails again comes behind them. */
function letters(there: number, failAgain = false) {
  let left = there;
  const counts: number[] = [];
  return {
    counts,
    left: () => left,
    take: async (count: number) => {
      counts.push(count);
      const done = Math.min(count, left);
      left = failAgain ? left : left - done;
      return { done, cursor: left > 0 ? "more" : "" };
    },
  };
}

describe("all that a filter takes", () => {
  it("is the sum of what its calls would take", async () => {
    const pages = [
      { matched: 100, cursor: "a" },
      { matched: 100, cursor: "b" },
      { matched: 50, cursor: undefined },
    ];
    const asked: (string | undefined)[] = [];
    const told: number[] = [];

    const matched = await countAll(
      async (cursor) => {
        asked.push(cursor);
        return pages[asked.length - 1] ?? { matched: 0, cursor: undefined };
      },
      (sum) => told.push(sum),
    );

    expect([matched, asked, told]).toEqual([250, [undefined, "a", "b"], [100, 200, 250]]);
  });

  it("is taken in calls of a hundred, the last of what is left", async () => {
    const { counts, take } = letters(250);

    expect(await takeAll(250, take, ignore)).toBe(250);
    expect(counts).toEqual([100, 100, 50]);
  });

  it("is no more than was counted, however much fails again", async () => {
    const { counts, take } = letters(250, true);

    expect(await takeAll(250, take, ignore)).toBe(250);
    expect(counts.reduce((sum, count) => sum + count)).toBe(250);
  });

  it("ends where there is nothing any more", async () => {
    expect(await takeAll(250, letters(120).take, ignore)).toBe(120);
    expect(await takeAll(10, async () => ({ done: 0, cursor: "more" }), ignore)).toBe(0);
  });

  it("ends with the call that failed, and what was done is told", async () => {
    const told: number[] = [];
    const { take } = letters(250);
    const failing = async (count: number) => {
      if (told.length === 1) throw new Error("503");
      return take(count);
    };

    await expect(takeAll(250, failing, (done) => told.push(done))).rejects.toThrow("503");
    expect(told).toEqual([100]);
  });
});
