import { describe, expect, it } from "@jest/globals";
import { type TenantId, tenantId } from "@posthaste/domain";
import { type Slot, slotBounds, Slots } from "./slots.ts";

const bounds = { shortMax: 3, perOriginMax: 2, waitingMax: 1 };
const a = tenantId("a");
const b = tenantId("b");
const c = tenantId("c");
const here = "10.0.0.1";
const there = "10.0.0.2";

function takeMany(slots: Slots, tenant = a, origins: readonly number[] = [1], count = 1): Slot[] {
  const taken: Slot[] = [];
  for (let n = 0; n < count; n++) {
    const origin = origins[n % origins.length] ?? 0;
    if (slots.isFree(tenant, origin)) taken.push(slots.take(tenant, origin));
  }
  return taken;
}

/** Makes known which address calls to the origin go to. */
function locate(slots: Slots, origin: number, address: string, tenant = a): void {
  const slot = slots.take(tenant, origin);
  slots.locate(slot, address);
  slots.free(slot);
}

function wait(slots: Slots, slot: Slot, address: string): boolean {
  slots.locate(slot, address);
  return slots.leaveShort(slot);
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

describe("slots", () => {
  it("are bounded per process, and per tenant and origin", () => {
    const slots = new Slots(bounds);
    slots.take(a, 1);
    const second = slots.take(a, 1);

    expect([slots.isFree(a, 1), slots.isFree(b, 1)]).toEqual([false, true]);
    slots.take(b, 2);
    expect([slots.isFree(a, 3), slots.isFree(b, 3)]).toEqual([false, false]);
    slots.free(second);
    expect(slots.isFree(b, 1)).toBe(true);
  });

  it("may be reserved as many as there are, for an origin and for the process, and a reservation holds none", () => {
    const slots = new Slots(bounds);

    const promised = [a, a, a].map((tenant) => slots.reserve(tenant, 1));
    expect(promised.map((place) => place !== undefined)).toEqual([true, true, false]);
    const ofOther = slots.reserve(b, 1);
    expect(ofOther).toBeDefined();
    expect(slots.reserve(a, 3)).toBeUndefined();
    expect(slots.isFree(a, 1)).toBe(true);
    if (ofOther) slots.free(ofOther);
    const third = slots.reserve(a, 3);
    expect(third).toBeDefined();
    if (third) slots.free(third);
    for (const origin of [4, 4, 5]) slots.take(origin === 4 ? a : b, origin);
    expect(slots.isFree(b, 7)).toBe(false);
    expect(slots.reserve(b, 7)).toBeDefined();
  });

  it("that wait for their answer free their short slot, as long as waiting calls may have one more", () => {
    const slots = new Slots(bounds);
    const first = slots.take(a, 1);
    const second = slots.take(b, 2);

    expect(wait(slots, first, here)).toBe(true);
    expect(slots.inUse).toMatchObject({ short: 1, waiting: 1 });
    expect(wait(slots, second, there)).toBe(false);
    slots.free(first);
    expect(wait(slots, second, there)).toBe(true);
    slots.free(second);
    expect(slots.inUse).toMatchObject({ short: 0, waiting: 0 });
  });

  it("count for their origin while they wait, until they have run for long", () => {
    const slots = new Slots({ shortMax: 100, perOriginMax: 2, waitingMax: 100 });
    const taken = takeMany(slots, a, [1], 5);
    for (const slot of taken) wait(slots, slot, here);

    expect(taken).toHaveLength(2);
    expect(slots.isFree(a, 1)).toBe(false);
    for (const slot of taken) slots.leaveOrigin(slot);
    expect(slots.isFree(a, 1)).toBe(true);
    for (const slot of taken) slots.free(slot);
    expect(takeMany(slots, a, [1], 5)).toHaveLength(2);
  });
});

describe("the bounds of slots", () => {
  const config = { maxInFlight: 1_000, maxPerOrigin: 100, maxWaiting: 10_000 };

  it.each([
    { callsMax: 11_000, shortMax: 1_000, waitingMax: 10_000 },
    { callsMax: 2_000, shortMax: 1_000, waitingMax: 1_000 },
    { callsMax: 96, shortMax: 48, waitingMax: 48 },
    { callsMax: 1, shortMax: 1, waitingMax: 0 },
  ])("within $callsMax calls are $shortMax and $waitingMax", ({ callsMax, ...expected }) => {
    expect(slotBounds(config, callsMax)).toEqual({ perOriginMax: 100, ...expected });
  });
});

describe("the places at an origin", () => {
  const many = { shortMax: 1_000, perOriginMax: 100, waitingMax: 1_000 };

  it("that one tenant holds leave a third as many to the rest, and each next tenant finds some", () => {
    const slots = new Slots(many);
    const held = [a, b, c, tenantId("d")].map((tenant) => {
      locate(slots, 1, here, tenant);
      return takeMany(slots, tenant, [1], 1_000).length;
    });

    expect(held[0]).toBe(100);
    expect(held.every((count) => count > 0)).toBe(true);
    expect(held.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(134);
  });

  it("and its address are a tenant's own, whatever names of other tenants have the same hash", () => {
    const slots = new Slots(many);
    for (const origin of range(0, 9)) locate(slots, origin, here, a);
    takeMany(slots, a, range(0, 9), 1_000);

    expect(slots.addressOf(b, 1)).toBeUndefined();
    expect(takeMany(slots, b, [1], 1_000)).toHaveLength(4);
    locate(slots, 1, there, b);
    expect([slots.addressOf(a, 1), slots.addressOf(b, 1)]).toEqual([here, there]);
    expect(takeMany(slots, b, [1], 1_000).length).toBeGreaterThan(0);
  });
});

describe("calls to an origin whose address is not known yet", () => {
  const many = { shortMax: 100, perOriginMax: 10, waitingMax: 1_000 };

  it("are few, until a call has found the address", () => {
    const slots = new Slots(many);

    const [first] = takeMany(slots, a, [1], 10);
    expect(slots.inUse.short).toBe(4);
    if (first) slots.locate(first, here);
    takeMany(slots, a, [1], 10);
    expect(slots.inUse.short).toBe(10);
  });

  it("are few, until a call has ended without an address", () => {
    const slots = new Slots(many);

    const [first] = takeMany(slots, a, [1], 10);
    if (first) slots.ended(first, undefined);
    takeMany(slots, a, [1], 10);
    expect(slots.inUse.short).toBe(10);
  });

  it("count for the address once they have found it", () => {
    const slots = new Slots(many);
    for (const origin of range(0, 15))
      for (const slot of takeMany(slots, a, [origin], 4)) slots.locate(slot, here);

    expect(slots.inUse.short).toBe(60);
    expect([slots.isFree(a, 0), slots.isFree(a, 100)]).toEqual([false, true]);
  });
});

describe("of slots", () => {
  const many = { shortMax: 100, perOriginMax: 10, waitingMax: 1_000 };

  it("a tenant has no more than its share, whatever its destinations are", () => {
    const slots = new Slots(many);

    expect(takeMany(slots, a, range(0, 100), 1_000)).toHaveLength(75);
    expect(takeMany(slots, b, range(0, 100), 1_000)).toHaveLength(19);
    expect(slots.isFree(c, 200)).toBe(true);
  });

  it("an address has no more than its share, under whatever names: another of the same tenant has slots", () => {
    const slots = new Slots(many);
    for (const origin of range(0, 100)) locate(slots, origin, here);

    const taken = takeMany(slots, a, range(0, 100), 1_000);

    expect(taken).toHaveLength(57);
    expect(slots.isFree(a, 100)).toBe(true);
    expect(slots.isFree(b, 100)).toBe(true);
  });

  it("a tenant has no more than its share at an address that others call, too", () => {
    const slots = new Slots(many);
    for (const origin of range(0, 100)) locate(slots, origin, here);

    takeMany(slots, a, range(0, 100), 1_000);

    expect(slots.isFree(b, 99)).toBe(true);
  });

  it("slots for waiting calls are shared in the same way", () => {
    const slots = new Slots({ shortMax: 10_000, perOriginMax: 10_000, waitingMax: 100 });
    const waiting = (tenant: TenantId, origin: number, address: string): number => {
      locate(slots, origin, address);
      const taken = takeMany(slots, tenant, [origin], 200);
      return taken.filter((slot) => slots.leaveShort(slot)).length;
    };

    expect([waiting(a, 1, here), waiting(a, 2, there), waiting(b, 1, here)]).toEqual([43, 24, 4]);
  });

  it.each([
    ["at the same address", here],
    ["at another address", there],
    ["that is new", undefined],
  ])(
    "one origin of a tenant, whose calls hang for ever, leaves some for one %s",
    (_which, address) => {
      const slots = new Slots({ shortMax: 1_000, perOriginMax: 10_000, waitingMax: 10_000 });
      locate(slots, 1, here);
      if (address !== undefined) locate(slots, 2, address);
      const hanging = (origin: number): number => {
        let count = 0;
        while (slots.isFree(a, origin)) {
          const slot = slots.take(a, origin);
          slots.leaveShort(slot);
          slots.leaveOrigin(slot);
          count += 1;
        }
        return count;
      };

      expect(hanging(1)).toBeGreaterThan(4_000);
      expect(slots.isFree(a, 2)).toBe(true);
      expect(slots.reserve(a, 2)).toBeDefined();
      locate(slots, 2, address ?? here);
      expect(hanging(2)).toBeGreaterThan(1_000);
      expect(slots.isFree(b, 1)).toBe(true);
    },
  );

  it("the origin of calls that have run for long is remembered as their holder", () => {
    const slots = new Slots({ shortMax: 100, perOriginMax: 100, waitingMax: 0 });
    const taken = takeMany(slots, a, [1], 4);
    for (const slot of taken) slots.locate(slot, here);
    taken.push(...takeMany(slots, a, [1], 100));
    for (const slot of taken) slots.leaveOrigin(slot);
    for (const origin of range(2, 20_002)) locate(slots, origin, there);

    expect(slots.isFree(a, 1)).toBe(false);
    for (const slot of taken) slots.free(slot);
    expect(slots.isFree(a, 1)).toBe(true);
  });

  it("that a hostile tenant has held are all free for others when it has gone", () => {
    const slots = new Slots(many);
    const taken = takeMany(slots, a, range(0, 100), 1_000);
    for (const slot of taken) slots.free(slot);

    expect(slots.inUse).toMatchObject({ short: 0, waiting: 0 });
    expect(takeMany(slots, b, range(200, 300), 1_000)).toHaveLength(75);
  });

  it("ten thousand may wait, of a few tenants, and nothing is left behind when they have been answered", () => {
    const slots = new Slots({ shortMax: 1_000, perOriginMax: 100, waitingMax: 10_000 });
    const waiting: Slot[] = [];
    for (let round = 0; round < 40; round++)
      for (const tenant of [a, b, c])
        for (const slot of takeMany(slots, tenant, range(round * 100, round * 100 + 100), 250)) {
          if (wait(slots, slot, `10.0.${round}.1`)) waiting.push(slot);
          else slots.free(slot);
        }

    expect(waiting.length).toBeGreaterThan(8_500);
    for (const slot of waiting) slots.free(slot);
    expect(slots.inUse).toMatchObject({ short: 0, waiting: 0 });
  });
});

describe("slots of all kinds", () => {});
