import { describe, expect, it } from "@jest/globals";
import { limits } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";
import * as fc from "fast-check";
import { fitPage } from "./fit-page.ts";

const quarter = { text: "x".repeat(limits.pageBytesMax / 4) };
const pageOf = (count: number, next?: string): Page<number> => ({
  items: Array.from({ length: count }, (_, n) => n),
  positions: Array.from({ length: count }, (_, n) => `p${n}`),
  ...(next !== undefined && { next }),
});

describe("items that fit on a page", () => {
  it("are all items if they are small, and the list continues where the page did", async () => {
    expect(await fitPage(pageOf(3), (some) => some.map((n) => ({ n })))).toEqual({
      shown: [{ n: 0 }, { n: 1 }, { n: 2 }],
      next: undefined,
    });
    expect((await fitPage(pageOf(3, "p2"), (some) => some.map((n) => ({ n })))).next).toBe("p2");
  });

  it("end with the item that fills the bytes, and the list continues after it", async () => {
    const { shown, next } = await fitPage(pageOf(9), (some) => some.map(() => quarter));

    expect(shown).toHaveLength(4);
    expect(next).toBe("p3");
  });

  it("are one item at least, whatever its size", async () => {
    const large = { text: "x".repeat(3 * limits.pageBytesMax) };
    const { shown, next } = await fitPage(pageOf(2), (some) => some.map(() => large));

    expect(shown).toHaveLength(1);
    expect(next).toBe("p0");
  });

  it("also ends where the reading for it has come to its bound", async () => {
    let reads = 0;
    const { shown, next } = await fitPage(
      pageOf(100),
      (some) => {
        reads += 1;
        return some.map((n) => ({ n }));
      },
      { isSpent: () => reads === 2, atOnce: 10 },
    );

    expect(shown).toHaveLength(20);
    expect(next).toBe("p19");
  });

  it("loses and repeats nothing from page to page, also where items are not shown", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ sixteenths: fc.nat(40), isShown: fc.boolean() }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        async (items, atOnce) => {
          const seen: number[] = [];
          let from: number | undefined = 0;
          while (from !== undefined) {
            const begin: number = from;
            const some = items.slice(begin);
            const page = { items: some, positions: some.map((_, n) => `${begin + n}`) };
            const { shown, next } = await fitPage(
              page,
              (each) =>
                each.map((item) =>
                  item.isShown
                    ? { nth: items.indexOf(item), text: "x".repeat(item.sixteenths * 131_072) }
                    : undefined,
                ),
              { atOnce },
            );
            seen.push(...shown.map(({ nth }) => nth));
            from = next === undefined ? undefined : Number(next) + 1;
          }

          const wanted = items.flatMap(({ isShown }, n) => (isShown ? [n] : []));
          expect(seen).toEqual(wanted);
        },
      ),
      { numRuns: 40 },
    );
  });
});
