import { describe, expect, it } from "@jest/globals";
import { elapsedMs, isOver, leftMs, skewMsMax, untilMs } from "./time.ts";

const now = 1_800_000_000_000;
const day = 86_400_000;

describe("a time that ends after ten seconds", () => {
  it.each([
    ["ends now", 0, true, 0],
    ["has ended", -1, true, 0],
    ["has begun now", 10_000, false, 10_000],
    ["has a moment left", 1, false, 1],
    ["was begun by a process whose clock is a little ahead", 12_000, false, 10_000],
    ["was begun by one whose clock is as far ahead as right clocks are", 70_000, false, 10_000],
    ["ends later than it could, had it begun by now", 70_001, true, 0],
    ["was begun while the clock was two days ahead", 2 * day, true, 0],
  ])("and %s", (_, endsInMs, over, left) => {
    const until = now + endsInMs;

    expect({ over: isOver(until, 10_000, now), left: leftMs(until, 10_000, now) }).toEqual({
      over,
      left,
    });
  });

  it("is over no later than its own length and a minute after the clock was set back, however far", () => {
    for (const aheadMs of [1, skewMsMax, skewMsMax + 1, day, 365 * day]) {
      const until = now + aheadMs + 10_000;

      const [first, last] = [now, now + 10_000 + skewMsMax];
      expect(isOver(until, 10_000, first) || isOver(until, 10_000, last)).toBe(true);
    }
  });
});

describe("how long ago a time was", () => {
  it.each([
    [-5_000, 5_000],
    [-day, 30_000],
    [0, 0],
    [day, 0],
  ])("that lies at %d ms from now", (atMs, ago) => {
    expect(elapsedMs(now + atMs, 30_000, now)).toBe(ago);
  });
});

describe("how far ahead a time is", () => {
  it.each([
    [5_000, 5_000],
    [day, 30_000],
    [0, 0],
    [-day, 0],
  ])("that lies at %d ms from now", (atMs, ahead) => {
    expect(untilMs(now + atMs, 30_000, now)).toBe(ahead);
  });
});
