import { describe, expect, it } from "@jest/globals";
import { placesOf, takeAll, walk } from "./bulk.ts";

/** A list of numbers in pages of ten, whose cursors are indexes. */
function listOf(count: number) {
  const asked: (string | undefined)[] = [];
  const list = (cursor: string | undefined) => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const items = Array.from({ length: Math.min(10, count - from) }, (_, nth) => from + nth);
    const next = from + 10 < count ? String(from + 10) : "";
    return Promise.resolve({ items, cursor: next });
  };
  return { asked, list };
}

const even = (number: number): boolean => number % 2 === 0;
const unbounded = { pages: Infinity, found: Infinity };

describe("a walk through a list", () => {
  it("finds everything that is taken, and reports its progress", async () => {
    const { list, asked } = listOf(25);
    const told: number[] = [];

    const { found, looked, cursor } = await walk(list, even, unbounded, {
      told: (so) => told.push(so.looked),
    });

    expect(found).toHaveLength(13);
    expect([looked, cursor]).toEqual([25, undefined]);
    expect(told).toEqual([10, 20, 25]);
    expect(asked).toEqual([undefined, "10", "20"]);
  });

  it("ends at its bounds, and continues from there", async () => {
    const { list } = listOf(100);

    expect(await walk(list, even, { pages: 2, found: 100 })).toMatchObject({
      looked: 20,
      cursor: "20",
    });
    expect(await walk(list, even, { pages: 100, found: 7 }, { from: "20" })).toMatchObject({
      found: [20, 22, 24, 26, 28, 30, 32, 34, 36, 38],
      cursor: "40",
    });
  });
});

it("found items are taken in calls of a hundred, each once", async () => {
  const ids = Array.from({ length: 250 }, (_, nth) => String(nth));
  const calls: (readonly string[])[] = [];
  const told: number[] = [];

  const done = await takeAll(
    ids,
    100,
    (some) => {
      calls.push(some);
      // One of each call no longer exists.
      return Promise.resolve(some.length - 1);
    },
    (sum) => told.push(sum),
  );

  expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(new Set(calls.flat()).size).toBe(250);
  expect([done, told]).toEqual([247, [99, 198, 247]]);
});

it("items of a group are counted, the largest group first", () => {
  const first = (text: string): string => text.charAt(0);

  expect(placesOf(first)(["a1", "b1", "b2"])).toEqual([
    { place: "b", count: 2 },
    { place: "a", count: 1 },
  ]);
});
