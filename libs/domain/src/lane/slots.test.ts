import { describe, expect, it } from "@jest/globals";
import { epochStart as now, newId } from "@posthaste/testing";
import { leaseMs } from "../shared/limits.ts";
import { type FlowLimits, type RateWindow } from "./flow-control.ts";
import { type Slot, takeSlots } from "./slots.ts";

const [a, b, c] = [newId(), newId(), newId()];
const two: FlowLimits = { parallelism: 2, periodMs: 1_000 };
const twoAMinute: FlowLimits = { rate: 2, periodMs: 60_000 };
const window = (count: number, startedAt = now - 1_000): RateWindow => ({ startedAt, count });
const used = (until = now + 1): Slot => ({ until });
const unused = (until = now + 1, inWindow?: number): Slot => ({ until, granted: { inWindow } });

describe("of a line", () => {
  it.each<
    [string, FlowLimits, readonly Slot[], RateWindow | undefined, number, number | undefined]
  >([
    ["all get a slot that is free", two, [], undefined, 2, undefined],
    ["none gets one that is in use", two, [used(), used()], undefined, 0, undefined],
    ["none gets one that is granted", two, [unused(), unused()], undefined, 0, undefined],
    ["each gets one that ended unused", two, [unused(now), unused(now)], undefined, 2, undefined],
    ["all get a token that is left", twoAMinute, [], undefined, 2, 2],
    ["one gets the last token", twoAMinute, [], window(1), 1, 2],
    ["none gets a token that is spent", twoAMinute, [used()], window(2), 0, 2],
    ["none gets one that is granted", twoAMinute, [unused(now + 1, now - 1_000)], window(2), 0, 2],
    [
      "one gets the token of a grant that ended",
      twoAMinute,
      [unused(now, now - 1_000)],
      window(2),
      1,
      2,
    ],
    ["none gets the token of an earlier window's", twoAMinute, [unused(now, 5)], window(2), 0, 2],
    ["all get tokens of a new window", twoAMinute, [], window(2, now - 60_000), 2, 2],
  ])("%s", (_, limits, held, before, expected, count) => {
    const slots = new Map(held.map((slot) => [newId(), slot]));

    const taken = takeSlots({ slots, window: before }, [b, c], limits, { now, passedMs: now });

    expect(taken?.granted).toEqual([b, c].slice(0, expected));
    expect(taken?.window?.count).toBe(count);
  });

  it.each<[string, Slot, number]>([
    ["that it has not used costs nothing", unused(now + 1, now - 1_000), 1],
    ["that it uses costs another token", used(), 2],
    ["of an earlier window costs one of this", unused(now + 1, 5), 2],
  ])("who holds a slot gets it again; one %s", (_, slot, count) => {
    const taken = takeSlots({ slots: new Map([[a, slot]]), window: window(1) }, [a], twoAMinute, {
      now,
      passedMs: now,
    });

    expect(taken?.granted).toEqual([a]);
    expect(taken?.window?.count).toBe(count);
    expect(taken?.slots).toEqual([
      [a, { until: now + leaseMs, granted: { inWindow: now - 1_000 } }],
    ]);
  });

  it("no message gets anything while a call may run whose slot has ended", () => {
    const slots = new Map([
      [a, unused(now)],
      [b, used(now)],
    ]);

    expect(
      takeSlots({ slots, window: undefined }, [c], two, { now, passedMs: now }),
    ).toBeUndefined();
  });

  it("waiting messages get the time until the next window, if they wait for the rate", () => {
    expect(
      takeSlots({ slots: new Map(), window: window(2) }, [c], twoAMinute, { now, passedMs: now })
        ?.opensInMs,
    ).toBe(59_000);
  });
});
