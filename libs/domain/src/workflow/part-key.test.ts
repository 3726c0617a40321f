import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { deliveryOf, isDelivery, isEntry, type PartKey, partKeyOf, partOf } from "./part-key.ts";

const number = fc.integer({ min: 1, max: 10_000 });
const key: fc.Arbitrary<PartKey> = fc.oneof(
  fc.record({
    role: fc.constantFrom("start", "adopted", "returned", "failure", "failureHeaders"),
  }),
  fc.record({
    role: fc.constantFrom("plan", "result", "call", "answer", "wait", "invocation", "invoked"),
    step: number,
  }),
  fc.record({ role: fc.constantFrom("told", "reply"), round: number }),
  fc.record({ role: fc.constant("note"), version: fc.nat() }),
);

describe("the name of a part", () => {
  it("says which part it is, and back", () => {
    fc.assert(
      fc.property(key, (each) => {
        expect(partKeyOf(partOf(each))).toEqual(each);
        expect(deliveryOf(partOf(each))).toEqual(isDelivery(each) ? each : undefined);
      }),
    );
  });

  it("is of no part that the same key would not be named by", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z-]{0,2}[0-9]{0,3}$/), (name) => {
        const known = partKeyOf(name);
        if (known) expect(partOf(known)).toBe(name);
      }),
    );
  });

  it.each(["", "f0", "f1", "s", "s0", "s01", "n", "n01", "e1", "s1x", "S1", "p-1", " s1", "s1\n"])(
    "is of no part: %j",
    (name) => {
      expect(partKeyOf(name)).toBeUndefined();
    },
  );

  it("is of an entry when the history has the delivery", () => {
    const isOfEntry = (name: string) => isEntry(partKeyOf(name) ?? { role: "returned" });
    for (const name of ["start", "adopted", "p3", "s3"]) expect(isOfEntry(name)).toBe(true);
    for (const name of ["c3", "a3", "w3", "e", ""]) expect(isOfEntry(name)).toBe(false);
  });

  it.each(["e", "x", "h", "f", "r2", "w1", "v1", "i1", "n7"])("is of no delivery: %j", (name) => {
    expect(deliveryOf(name)).toBeUndefined();
  });
});
