import { describe, expect, it } from "@jest/globals";
import { aTenant, anotherTenant } from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import fc from "fast-check";
import { open, permitsOver } from "../opened.fixture.ts";
import { countedBytes, type Need, type Permit, type Permits } from "./permits.ts";

const mebibyte = 1024 * 1024;

function placesIn(permits: Permits): number {
  const origins = Array.from({ length: 40 }, (_, n) => n % 10);
  return origins.filter((origin) => permits.reserve({ tenant: aTenant, origin, bytes: 0 })).length;
}

describe("permits", () => {
  it("leave nothing behind, after any events in any order", () => {
    const need = fc.record({
      tenant: fc.constantFrom(aTenant, anotherTenant),
      origin: fc.constantFrom(1, 2),
      bytes: fc.constantFrom(0, 100_000, mebibyte),
    });
    const event = fc.constantFrom<(permit: Permit) => void>(
      (permit) => permit.locate("10.0.0.1"),
      (permit) => permit.locate(undefined),
      (permit) => permit.weigh(0),
      (permit) => permit.weigh(2 * mebibyte),
      (permit) => permit.leaveShort(),
      (permit) => permit.leaveOrigin(),
      (permit) => permit.giveSlotBack({ address: "10.0.0.2" }),
      (permit) => permit.end(),
    );
    const ports = open();
    const step = fc.tuple(fc.boolean(), need, fc.array(event, { maxLength: 4 }));

    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const permits = permitsOver(ports);
        const held: Permit[] = [];
        for (const [isReserved, wanted, events] of steps) {
          if (!isReserved && permits.isFree(wanted)) held.push(permits.take(wanted));
          const place = isReserved ? permits.reserve(wanted) : undefined;
          if (place) held.push(permits.isFree({ ...wanted, bytes: 0 }) ? place.begin() : place);
          const last = held.at(-1);
          if (last) for (const each of events) each(last);
        }
        for (const permit of held.reverse()) permit.end();

        expect(permits.bytesInFlight).toBe(0);
        for (const tenant of [aTenant, anotherTenant]) expect(permits.heldBy(tenant)).toBe(0);
        expect(placesIn(permits)).toBe(placesIn(permitsOver(ports)));
      }),
      { numRuns: 300 },
    );
  });

  it("are all free again, in whatever order they are given back", async () => {
    const ports = open();
    await expectAllGivenBack(() => {
      const permits = permitsOver(ports);
      const called = (need: Need, isSlow: boolean) => () => {
        if (!permits.isFree(need)) return undefined;
        const permit = permits.take(need);
        if (isSlow) {
          permit.locate("10.0.0.1");
          permit.leaveShort();
          permit.leaveOrigin();
        }
        return { giveBack: () => permit.end() };
      };
      const reserved = (need: Need) => () => {
        const place = permits.reserve(need);
        if (!place) return undefined;
        // `giveBack` is for an insert that failed; `call` begins the call and ends it.
        const call = () => {
          if (place.slot?.kind === "reserved") place.begin();
          place.end();
        };
        return { giveBack: () => place.end(), fail: call };
      };
      const needs = [aTenant, anotherTenant].flatMap((tenant) =>
        [1, 2].map((origin) => ({ tenant, origin, bytes: origin === 1 ? mebibyte : 0 })),
      );
      // The address of an origin outlives its calls, so all are known from the start.
      for (const need of needs) {
        const permit = permits.take(need);
        permit.locate("10.0.0.1");
        permit.end();
      }
      const takes = needs.flatMap((need) => [
        called(need, false),
        called(need, true),
        reserved(need),
      ]);
      const held = () => [
        permits.bytesInFlight,
        permits.heldBy(aTenant),
        permits.heldBy(anotherTenant),
      ];
      return { takes, held };
    });
  });

  it("count heavy bodies only", () => {
    expect([0, 32 * 1024, 32 * 1024 + 1].map(countedBytes)).toEqual([0, 0, 32 * 1024 + 1]);
  });

  it("count a body for its address as soon as its call has found it", () => {
    const permits = permitsOver(open());
    const need = { tenant: aTenant, origin: 1, bytes: 5 * mebibyte };
    const permit = permits.take(need);
    const other = { tenant: aTenant, origin: 2, bytes: mebibyte };

    // The address of the other origin is as unknown.
    expect(permits.isFree(other)).toBe(false);
    permit.locate("10.0.0.1");
    permits.take({ ...other, bytes: 0 }).locate("10.0.0.2");
    expect(permits.isFree(other)).toBe(true);
  });

  it("report a free slot to the lines once, and bytes when these are free", () => {
    const told: string[] = [];
    const permits = permitsOver(open(), {
      unblock: (tenant, origin) => void told.push(`slot of ${tenant} at ${origin}`),
      unblockHeavy: (all) => void told.push(all ? "all bytes" : "bytes"),
      goOn: () => void told.push("next"),
    });
    const heavy = permits.take({ tenant: aTenant, origin: 1, bytes: mebibyte });
    const other = permits.take({ tenant: aTenant, origin: 2, bytes: mebibyte });

    heavy.giveSlotBack();
    heavy.giveSlotBack();
    expect(told.splice(0)).toEqual([`slot of ${aTenant} at 1`, "next"]);
    heavy.end();
    heavy.end();
    expect(told.splice(0)).toEqual(["bytes"]);
    other.end();
    expect(told).toEqual([`slot of ${aTenant} at 2`, "next", "all bytes"]);
  });
});
