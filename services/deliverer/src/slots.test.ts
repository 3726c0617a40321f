import { describe, expect, it } from "@jest/globals";
import { Slots } from "./slots.ts";

const bounds = { shortMax: 3, perOriginMax: 2, longMax: 1 };

describe("slots", () => {
  it("an origin can hold no more than its own share, and others still get theirs", () => {
    const slots = new Slots(bounds);
    slots.take(1);
    slots.take(1);

    expect(slots.isFree(1)).toBe(false);
    expect(slots.isFree(2)).toBe(true);
    slots.take(2);
    expect(slots.isFree(3)).toBe(false);
    slots.free(1);
    expect(slots.isFree(1)).toBe(true);
  });

  it("as many are promised as there are, of an origin and of the process, and a promise holds none", () => {
    const slots = new Slots(bounds);

    expect([slots.reserve(1), slots.reserve(1), slots.reserve(1)]).toEqual([true, true, false]);
    expect([slots.reserve(2), slots.reserve(3)]).toEqual([true, false]);
    expect(slots.isFree(1)).toBe(true);
    slots.unreserve(2);
    expect(slots.reserve(3)).toBe(true);
    slots.take(4);
    slots.take(4);
    slots.take(5);
    slots.unreserve(1);
    expect(slots.reserve(1)).toBe(false);
  });

  it("a long call frees its short slot, unless the long pool is full", () => {
    const slots = new Slots(bounds);
    slots.take(1);
    slots.take(1);

    expect(slots.lengthen(1)).toBe(true);
    expect(slots.isFree(1)).toBe(true);
    expect(slots.lengthen(1)).toBe(false);
    expect(slots.inUse).toBe(2);
    slots.freeLong();
    expect(slots.inUse).toBe(1);
  });
});
