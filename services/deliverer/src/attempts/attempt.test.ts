import { describe, expect, it } from "@jest/globals";
import { aClaimedRecord, anotherTenant, aTenant } from "@posthaste/testing";
import { beginCalling, beginSettling, beginTelling, endAttempt, newAttempt } from "./attempt.ts";
import { open, permitsOver } from "../opened.fixture.ts";

const bytes = 1024 * 1024;

describe("an attempt", () => {
  it("holds a place in line, then a slot, then only the bytes of its body, and nothing after its end", () => {
    const { clock, ...ports } = open();
    const permits = permitsOver({ ...ports, clock }, undefined, {
      shortMax: 1,
      perOriginMax: 1,
      waitingMax: 0,
    });
    const seen: unknown[] = [];
    const look = (): void => {
      const place = permits.reserve({ tenant: anotherTenant, origin: 2, bytes: 0 });
      place?.end();
      seen.push([place !== undefined, permits.heldBy(aTenant), permits.bytesInFlight]);
    };
    const place = permits.reserve({ tenant: aTenant, origin: 1, bytes });
    if (!place) throw new Error("there is no place in line");

    const waiting = newAttempt(aClaimedRecord({ tenant: aTenant }), 1, 0, clock, place);
    look();
    const calling = beginCalling(waiting, place.begin(), clock);
    look();
    const settling = beginSettling(calling);
    look();
    const telling = beginTelling(settling);
    look();
    endAttempt(telling);
    look();

    expect(seen).toEqual([
      [false, 0, bytes],
      [true, 1, bytes],
      [true, 0, bytes],
      [true, 0, bytes],
      [true, 0, 0],
    ]);
  });

  it("that waits in line and is given back leaves its place at once, and its bytes when that is written", () => {
    const { clock, ...ports } = open();
    const permits = permitsOver({ ...ports, clock });
    const places = () => {
      const need = { tenant: aTenant, origin: 1, bytes: 0 };
      const taken = Array.from({ length: 1_000 }, () => permits.reserve(need));
      for (const each of taken) each?.end();
      return taken.filter((each) => each !== undefined).length;
    };
    const all = places();
    const place = permits.reserve({ tenant: aTenant, origin: 1, bytes });
    const waiting = newAttempt(aClaimedRecord({ tenant: aTenant }), 1, 0, clock, place);

    expect(places()).toBe(all - 1);
    const settling = beginSettling(waiting);
    expect([places(), permits.bytesInFlight]).toEqual([all, bytes]);
    endAttempt(settling);
    expect(permits.bytesInFlight).toBe(0);
  });
});
