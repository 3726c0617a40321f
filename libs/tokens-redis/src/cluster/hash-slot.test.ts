import { describe, expect, it } from "@jest/globals";
import { keyIn, slotOf } from "./hash-slot.ts";

/** The answers of `CLUSTER KEYSLOT` of Redis 7.0.15. */
const known: readonly (readonly [string, number])[] = [
  ["123456789", 12_739],
  ["foo", 12_182],
  ["{foo}.bar", 12_182],
  ["before{foo}after{bar}", 12_182],
  ["{}foo", 9_500],
  ["{foo", 13_308],
  ["foo}{", 8_134],
  ["ключ-鍵", 8_023],
  ["", 0],
];

describe("the slot of a key", () => {
  it.each(known)("of %j is %d", (key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });

  it("is one for the two keys of a lane, for any flow key", () => {
    for (const name of ["a", "}", "{", "{}", "a}b", "{x}", "ü"]) {
      const [lane, slots] = ["lane", "slots"].map((of) => slotOf(`p:${of}:{flow:t:${name}}`));
      expect(slots).toBe(lane);
    }
  });

  it("is found a key for", () => {
    for (const slot of [0, 8_191, 16_383]) {
      const key = keyIn("probe:", (at) => at === slot);
      expect(key).toMatch(/^probe:\{\d+\}$/);
      expect(slotOf(key)).toBe(slot);
    }
  });
});
