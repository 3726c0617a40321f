import { describe, expect, it } from "@jest/globals";
import { seededRandom, virtualClock } from "@posthaste/testing";
import {
  createAdmission,
  type Load,
  nextPressure,
  type Pressure,
  refusalChance,
  type RequestKind,
} from "./admission.ts";

const calm: Load = { loopDelayMs: 5, storeWaitMs: 5 };
const slowLoop: Load = { loopDelayMs: 201, storeWaitMs: 0 };
const slowStore: Load = { loopDelayMs: 0, storeWaitMs: 501 };

/** Returns the share after each second of these loads. */
function sharesOf(loads: readonly Load[]): number[] {
  let pressure: Pressure = { share: 0, slowSince: undefined, sampledAt: 0 };
  return loads.map((load, second) => {
    pressure = nextPressure(pressure, load, (second + 1) * 1_000);
    return pressure.share;
  });
}
const times = (count: number, load: Load): Load[] => Array<Load>(count).fill(load);

describe("the share that is refused", () => {
  it.each([
    ["stays nothing while all is calm", times(3, calm), [0, 0, 0]],
    [
      "stays nothing at exactly the limits",
      times(7, { loopDelayMs: 200, storeWaitMs: 500 }),
      [0, 0, 0, 0, 0, 0, 0],
    ],
    [
      "rises once the loop has been slow for five seconds",
      times(8, slowLoop),
      [0, 0, 0, 0, 0, 0.1, 0.2, 0.3],
    ],
    [
      "begins anew when the loop was fast in between",
      [...times(5, slowLoop), calm, ...times(3, slowLoop)],
      [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ],
    ["rises at once when the store makes wait", times(2, slowStore), [0.1, 0.2]],
    ["falls when it is over", [...times(2, slowStore), ...times(3, calm)], [0.1, 0.2, 0.1, 0, 0]],
    ["ends at all", times(12, slowStore), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1]],
  ])("%s", (_, loads, shares) => {
    expect(sharesOf(loads)).toEqual(shares);
  });

  it("is forgotten after a pause without requests", () => {
    const rush: Pressure = { share: 0.8, slowSince: 0, sampledAt: 10_000 };

    expect(nextPressure(rush, slowLoop, 70_000)).toEqual({
      share: 0,
      slowSince: 70_000,
      sampledAt: 70_000,
    });
  });
});

describe("the refused requests", () => {
  it.each([
    [0, { list: 0, read: 0, publish: 0, ongoing: 0, health: 0 }],
    [0.2, { list: 0.8, read: 0.4, publish: 0, ongoing: 0, health: 0 }],
    [0.5, { list: 1, read: 1, publish: 0, ongoing: 0, health: 0 }],
    [0.7, { list: 1, read: 1, publish: 0.4, ongoing: 0, health: 0 }],
    [0.9, { list: 1, read: 1, publish: 0.8, ongoing: 0, health: 0 }],
    [1, { list: 1, read: 1, publish: 0.95, ongoing: 0, health: 0 }],
  ])(
    "at a share of %d are lists first, and never those of accepted work or of health",
    (share, chances) => {
      for (const kind of ["list", "read", "publish", "ongoing", "health"] as const) {
        expect(refusalChance(kind, share)).toBeCloseTo(chances[kind], 10);
      }
    },
  );
});

describe("admission", () => {
  const refusedOf = (kind: RequestKind, refuse: (kind: RequestKind) => unknown): number =>
    Array.from({ length: 1_000 }, () => refuse(kind)).filter(Boolean).length;

  it("lets all in at first, then fewer and fewer while the store makes wait, then all", async () => {
    const clock = virtualClock();
    let storeWaitMs = 10_000;
    const admission = createAdmission({
      clock,
      random: seededRandom(1),
      storeWaitMs: () => storeWaitMs,
    });

    expect(refusedOf("list", admission.refuse)).toBe(0);
    for (let second = 0; second < 8; second++) {
      await clock.advance(1_000);
      admission.refuse("health");
    }
    expect(refusedOf("list", admission.refuse)).toBe(1_000);
    expect(refusedOf("health", admission.refuse)).toBe(0);
    // 0.8 of the scale refuses six publishes in ten.
    expect(Math.abs(refusedOf("publish", admission.refuse) - 600)).toBeLessThan(80);
    expect(admission.refuse("list")).toMatchObject({ fault: "overloaded" });

    storeWaitMs = 0;
    await clock.advance(60_000);
    expect(refusedOf("list", admission.refuse)).toBe(0);
  });
});
