import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { TextCache } from "./text-cache.ts";

const bounds = { entriesMax: 8, lengthMax: 4 };

describe("a cache by text", () => {
  it("never holds more than its bound, and returns the last value of a key, or nothing", () => {
    const change = fc.record({
      what: fc.constantFrom("set", "set", "set", "get", "delete"),
      text: fc.string({ maxLength: 2, unit: fc.constantFrom(..."abcdABCD") }),
      value: fc.integer(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const canonical = (text: string) => text.toLowerCase();
        const cache = new TextCache<number>({ ...bounds, canonical });
        const last = new Map<string, number>();
        for (const { what, text, value } of changes) {
          if (what === "set") {
            cache.set(text, value);
            last.set(canonical(text), value);
          }
          if (what === "delete") {
            cache.delete(text);
            last.delete(canonical(text));
          }

          expect([undefined, last.get(canonical(text))]).toContain(cache.get(text));
          expect(cache.size).toBeLessThanOrEqual(bounds.entriesMax);
        }
      }),
    );
  });

  it("holds no more than its bound, however many texts come", () => {
    const cache = new TextCache<number>(bounds);
    for (let n = 0; n < 100; n++) {
      cache.set(String(n), n);
      expect(cache.size).toBeLessThanOrEqual(bounds.entriesMax);
    }
  });

  it("keeps entries in use, whatever else is added", () => {
    const cache = new TextCache<string>(bounds);
    cache.set("used", "value");
    for (let n = 0; n < 1_000; n++) {
      cache.set(String(n % 100), "other");
      if (n % 3 === 0) expect(cache.get("used")).toBe("value");
    }
  });

  it("keeps nothing under a text that is too long", () => {
    const cache = new TextCache<string>(bounds);
    cache.set("abcde", "value");

    expect([cache.size, cache.get("abcde"), cache.has("abcde")]).toEqual([0, undefined, false]);
  });

  it("has one entry for all spellings of a text", () => {
    const cache = new TextCache<string>({ ...bounds, canonical: (text) => text.toLowerCase() });
    for (const text of ["utc", "UTC", "Utc", "uTC"]) cache.set(text, text);

    expect([cache.size, cache.get("utC")]).toEqual([1, "uTC"]);
  });
});
