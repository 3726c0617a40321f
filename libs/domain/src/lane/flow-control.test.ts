import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { epochStart as now } from "@posthaste/testing";
import { countDispatches, rateLeft, type RateWindow } from "./flow-control.ts";

const limits = { rate: 3, periodMs: 1_000 };

describe("a rate window", () => {
  it("starts with its first dispatch, and then counts", () => {
    const first = countDispatches(limits, undefined, 1, now);
    const second = countDispatches(limits, first, 2, now + 999);

    expect(first).toEqual({ startedAt: now, count: 1 });
    expect(second).toEqual({ startedAt: now, count: 3 });
  });

  it("is over after its period: the next dispatch starts another", () => {
    const full = { startedAt: now, count: 3 };

    expect(countDispatches(limits, full, 2, now + 1_000)).toEqual({
      startedAt: now + 1_000,
      count: 2,
    });
  });

  it.each<[string, RateWindow | undefined, number, { left: number; opensAt?: number }]>([
    ["has not begun", undefined, 0, { left: 3 }],
    ["has room", { startedAt: now, count: 1 }, 500, { left: 2 }],
    ["is full", { startedAt: now, count: 3 }, 500, { left: 0, opensAt: now + 1_000 }],
    [
      "is more than full, after the rate was lowered",
      { startedAt: now, count: 9 },
      0,
      { left: 0, opensAt: now + 1_000 },
    ],
    ["is over", { startedAt: now, count: 3 }, 1_000, { left: 3 }],
  ])("that %s says how much is left, and when more", (_, window, afterMs, expected) => {
    expect(rateLeft(limits, window, now + afterMs)).toEqual(expected);
  });

  it("of a lane without a rate leaves everything", () => {
    expect(
      rateLeft({ parallelism: 1, periodMs: 1_000 }, { startedAt: now, count: 1e9 }, now),
    ).toEqual({
      left: Number.POSITIVE_INFINITY,
    });
  });

  it("never grants more than the rate in one window, at whatever times slots are taken", () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(700), want: fc.nat(6) }), { maxLength: 60 });
    const holds = fc.property(steps, fc.integer({ min: 1, max: 5 }), (asked, rate) => {
      const mine = { rate, periodMs: 1_000 };
      const granted: { at: number; n: number }[] = [];
      let window: RateWindow | undefined;
      let at = now;
      for (const { afterMs, want } of asked) {
        at += afterMs;
        const n = Math.min(want, rateLeft(mine, window, at).left);
        if (n === 0) continue;
        window = countDispatches(mine, window, n, at);
        granted.push({ at: window.startedAt, n });
      }
      for (const { at: startedAt } of granted) {
        const inWindow = granted
          .filter((each) => each.at === startedAt)
          .reduce((sum, { n }) => sum + n, 0);
        expect(inWindow).toBeLessThanOrEqual(rate);
      }
    });

    fc.assert(holds, { seed: 1, numRuns: 300 });
  });
});
