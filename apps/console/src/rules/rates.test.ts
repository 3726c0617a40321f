import { describe, expect, it } from "@jest/globals";
import { daysOf, rangeNames, ranges, ratesOf } from "./rates.ts";

const now = Date.UTC(2026, 10, 25, 12, 30, 17);
const minute = Date.UTC(2026, 10, 25, 12, 30);
const dayMs = 86_400_000;

describe("counts by minute", () => {
  it("are a bar for each minute of the last hour, and sums of them all", () => {
    const minutes = [
      { time: minute - 60 * 60_000, counts: { DELIVERED: 100 } },
      { time: minute - 59 * 60_000, counts: { CREATED: 2, DELIVERED: 1 } },
      { time: minute, counts: { DELIVERED: 3, ERROR: 2, FAILED: 1 } },
    ];

    const { bars, most, sums } = ratesOf(minutes, now, ranges["1h"]);

    expect(bars).toHaveLength(60);
    expect(bars[0]).toEqual({ time: minute - 59 * 60_000, delivered: 1, failed: 0 });
    expect(bars[1]).toMatchObject({ delivered: 0, failed: 0 });
    expect(bars[59]).toEqual({ time: minute, delivered: 3, failed: 2 });
    expect(most).toBe(5);
    expect(sums).toEqual({ CREATED: 2, DELIVERED: 4, ERROR: 2, FAILED: 1, CANCELED: 0 });
  });

  it.each([
    ["24h", 96, 15],
    ["7d", 84, 120],
  ] as const)("of %s are %i bars of %i minutes", (name, count, minutes) => {
    const barMs = minutes * 60_000;
    const last = now - (now % barMs);
    const { bars } = ratesOf(
      [
        { time: last, counts: { DELIVERED: 1 } },
        { time: last + 60_000, counts: { DELIVERED: 1 } },
        { time: last - barMs, counts: { ERROR: 4 } },
      ],
      last + 60_000,
      ranges[name],
    );

    expect(bars).toHaveLength(count);
    expect(bars.at(-1)).toEqual({ time: last, delivered: 2, failed: 0 });
    expect(bars.at(-2)).toEqual({ time: last - barMs, delivered: 0, failed: 4 });
  });

  it.each(rangeNames)("of %s are asked for by the day, without a gap", (name) => {
    const days = daysOf(now, ranges[name]);

    expect(days.every(({ from, to }) => to - from < dayMs)).toBe(true);
    expect(days.slice(1).every(({ from }, nth) => from === (days[nth]?.to ?? 0) + 1)).toBe(true);
    expect(days[0]?.from).toBeLessThanOrEqual(now - ranges[name].ms + ranges[name].barMs);
    expect(days.at(-1)?.to).toBeGreaterThanOrEqual(now);
  });
});
