import { describe, expect, it } from "@jest/globals";
import { type FlowLimits } from "./flow-control.ts";
import { type Limited, limitsPublished, noPins, pin, type Pins, unpin } from "./pins.ts";

const standing: FlowLimits = { parallelism: 2, rate: 10, periodMs: 60_000 };
const brought: FlowLimits = { parallelism: 5, periodMs: 1_000 };
const both: Pins = { parallelism: true, rate: true };

describe("a publish", () => {
  it.each<[string, Pins, FlowLimits]>([
    ["sets all of a key without pins", noPins, brought],
    [
      "leaves a pinned parallelism",
      { parallelism: true, rate: false },
      { ...brought, parallelism: 2 },
    ],
    [
      "leaves a pinned rate, and its period",
      { parallelism: false, rate: true },
      { parallelism: 5, rate: 10, periodMs: 60_000 },
    ],
    ["leaves both", both, standing],
  ])("%s", (_, pins, expected) => {
    expect(limitsPublished({ limits: standing, pins }, brought)).toEqual(expected);
  });
});

describe("a pin", () => {
  const free: Limited = { limits: brought, pins: noPins };

  it("sets its part and leaves the other", () => {
    expect(pin(free, { parallelism: 1 })).toEqual({
      limits: { parallelism: 1, periodMs: 1_000 },
      pins: { parallelism: true, rate: false },
    });
    expect(pin(free, { rate: { rate: 3, periodMs: 5_000 } })).toEqual({
      limits: { parallelism: 5, rate: 3, periodMs: 5_000 },
      pins: { parallelism: false, rate: true },
    });
  });

  it("of a rate without a period leaves the period", () => {
    const limited: Limited = { limits: standing, pins: both };

    expect(pin(limited, { rate: { rate: 3 } })).toEqual({
      limits: { ...standing, rate: 3 },
      pins: both,
    });
  });

  it("that is taken away leaves the value, and the other pin", () => {
    const pinned = pin(free, { parallelism: 1, rate: { rate: 3, periodMs: 5_000 } });

    expect(unpin(pinned, { parallelism: true, rate: false })).toEqual({
      limits: pinned.limits,
      pins: { parallelism: false, rate: true },
    });
  });
});
