import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { placeOf, placesIn } from "./placed.ts";

const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const aRow = fc.record({ at: time, name: fc.string({ minLength: 1, maxLength: 4 }) });
const earliestFirst = { order: "earliestFirst" } as const;

function isIn(place: string, range: ReturnType<typeof placesIn>): boolean {
  const { $gte = place, $lte = place, $gt, $lt } = range;
  if ($gt !== undefined && place <= $gt) return false;
  if ($lt !== undefined && place >= $lt) return false;
  return place >= $gte && place <= $lte;
}

describe("a place", () => {
  it("sorts by time first, whatever its digits", () => {
    fc.assert(
      fc.property(aRow, aRow, (a, b) => {
        fc.pre(a.at !== b.at);
        expect(placeOf(a.at, a.name) < placeOf(b.at, b.name)).toBe(a.at < b.at);
      }),
    );
  });

  it("is inside two times exactly when its time is, the ends included", () => {
    const near = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(near, fc.option(near), fc.option(near), fc.string(), (at, from, to, name) => {
        const filter = { ...(from !== null && { from }), ...(to !== null && { to }) };
        const inside = at >= (from ?? 0) && at <= (to ?? Number.MAX_SAFE_INTEGER);
        expect(isIn(placeOf(at, name), placesIn(filter, earliestFirst))).toBe(inside);
      }),
    );
  });

  it("is behind a cursor in one order when it is before it in the other, and never at it", () => {
    fc.assert(
      fc.property(aRow, aRow, (a, b) => {
        const [place, after] = [placeOf(a.at, a.name), placeOf(b.at, b.name)];
        const behind = isIn(place, placesIn({}, { order: "earliestFirst", after }));
        const before = isIn(place, placesIn({}, { order: "latestFirst", after }));
        expect([behind, before]).toEqual([place > after, place < after]);
      }),
    );
  });
});
