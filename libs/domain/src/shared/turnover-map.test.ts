import { expect, it } from "@jest/globals";
import { grownOldIn, passingBytes } from "@posthaste/testing/grown-old";
import fc from "fast-check";
import { TurnoverMap } from "./turnover-map.ts";

const change = fc.record({
  what: fc.constantFrom("set", "delete"),
  key: fc.integer({ min: 0, max: 8 }),
  value: fc.integer(),
});

it("holds the entries of a Map, oldest key first", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const map = new Map<number, number>();
      const turnover = new TurnoverMap<number, number>();
      for (const { what, key, value } of changes) {
        for (const one of [map, turnover]) {
          if (what === "set") one.set(key, value);
          else one.delete(key);
        }
        expect(turnover.size).toBe(map.size);
        expect(turnover.has(key)).toBe(map.has(key));
        expect(turnover.get(key)).toBe(map.get(key));
        expect([...turnover.keys()]).toEqual([...map.keys()]);
        expect([...turnover.values()].toSorted()).toEqual([...map.values()].toSorted());
      }
    }),
  );
});

it("lets removed entries be collected with the young generation", () => {
  expect(grownOldInMap(new TurnoverMap())).toBeLessThan(passingBytes / 50);
  // A plain Map must fail this test, or `TurnoverMap` is not needed any more.
  expect(grownOldInMap(new Map())).toBeGreaterThan(passingBytes / 4);
});

const grownOldInMap = (map: {
  set(key: number, value: unknown): unknown;
  delete(key: number): unknown;
}): number =>
  grownOldIn((value, key) => {
    map.set(key, value);
    return () => map.delete(key);
  });
