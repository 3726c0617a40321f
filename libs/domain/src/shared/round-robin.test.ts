import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { RoundRobin } from "./round-robin.ts";

const change = fc.oneof(
  fc.record({ does: fc.constant("put" as const), key: fc.nat({ max: 9 }) }),
  fc.record({ does: fc.constantFrom("take" as const, "clear" as const), key: fc.constant(0) }),
);

describe("turns", () => {
  it("are given in order of arrival, and an entry put again goes to the end", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const turns = new RoundRobin<number, string>();
        let line: number[] = [];
        for (const { does, key } of changes) {
          if (does === "put") {
            turns.put(key, `value ${key}`);
            line = [...line.filter((each) => each !== key), key];
          } else if (does === "clear") {
            turns.clear();
            line = [];
          } else {
            const first = line.shift();
            expect(turns.take()).toEqual(
              first === undefined ? undefined : [first, `value ${first}`],
            );
          }
          expect(turns.size).toBe(line.length);
          expect(line.every((each) => turns.has(each) && turns.get(each) !== undefined)).toBe(true);
        }
      }),
    );
  });
});
