import { expect, it } from "@jest/globals";
import { ratesOf } from "./rates.ts";

it("counts by minute are a bar for each minute of the last hour, and sums of them all", () => {
  const now = Date.UTC(2026, 10, 25, 12, 30, 17);
  const minute = Date.UTC(2026, 10, 25, 12, 30);

  const { bars, most, sums } = ratesOf(
    [
      { time: minute - 59 * 60_000, counts: { CREATED: 2, DELIVERED: 1 } },
      { time: minute, counts: { DELIVERED: 3, ERROR: 2, FAILED: 1 } },
    ],
    now,
  );

  expect(bars).toHaveLength(60);
  expect(bars[0]).toEqual({ time: minute - 59 * 60_000, delivered: 1, failed: 0 });
  expect(bars[1]).toMatchObject({ delivered: 0, failed: 0 });
  expect(bars[59]).toEqual({ time: minute, delivered: 3, failed: 2 });
  expect(most).toBe(5);
  expect(sums).toEqual({ CREATED: 2, DELIVERED: 4, ERROR: 2, FAILED: 1, CANCELED: 0 });
});
