import { describe, expect, it } from "@jest/globals";
import { readPage, type Scan } from "./keyset.ts";

/** Scans the numbers from 1 to `n`; those that `wanted` accepts are items. */
const numbers = (
  n: number,
  wanted: (i: number) => boolean,
  bytesEach = 0,
): Scan<number, number> & { reads: () => number; turns: () => number } => {
  let reads = 0;
  let turns = 0;
  return {
    rows: (after, limit) => {
      const from = Number(after ?? 0) + 1;
      const length = Math.max(0, Math.min(limit, n - from + 1));
      reads += length;
      return {
        rows: Array.from({ length }, (_, i) => from + i),
        isLast: length < limit,
      };
    },
    keyOf: String,
    look: (i) => ({ ...(wanted(i) && { item: i }), bytes: bytesEach }),
    breathe: () => {
      turns++;
      return Promise.resolve();
    },
    reads: () => reads,
    turns: () => turns,
  };
};
const page = { limit: 2, order: "earliestFirst" } as const;

describe("a page", () => {
  it("lets other work have its turn after 25 rows of which it read more than their place", async () => {
    const scan = numbers(1_000, () => false, 1);

    await readPage(scan, page);

    expect(scan.turns()).toBeGreaterThanOrEqual(1_000 / 25 - 1);
    expect(scan.turns()).toBeLessThanOrEqual(1_000 / 25 + 2);
  });

  it("is followed by the next one until the end, also across chunks", async () => {
    const scan = numbers(2_000, (i) => i % 500 === 0);

    const first = await readPage(scan, page);
    const second = await readPage(scan, {
      ...page,
      ...(first.next !== undefined && { after: first.next }),
    });

    expect(first).toEqual({ items: [500, 1_000], positions: ["500", "1000"], next: "1000" });
    expect(second).toEqual({ items: [1_500, 2_000], positions: ["1500", "2000"] });
  });

  it("is short rather than slow when the filter matches little, and has a cursor", async () => {
    const scan = numbers(1_000_000, (i) => i === 30_000);

    const first = await readPage(scan, page);
    const second = await readPage(scan, { ...page, after: first.next ?? "" });

    expect(first).toEqual({ items: [], positions: [], next: "20000" });
    expect(second.items).toEqual([30_000]);
    expect(scan.reads()).toBe(40_000);
  });

  it("is short rather than slow, and shorter when it has to read more than its rows", async () => {
    const scan = numbers(20_000, (i) => i % 4_000 === 0, 1);

    const first = await readPage(scan, page);
    const second = await readPage(scan, { ...page, after: first.next ?? "" });

    expect(first).toEqual({ items: [], positions: [], next: "3000" });
    expect(second).toEqual({ items: [4_000], positions: ["4000"], next: "6000" });
  });

  it("is short rather than large when its items are, and one item is a page whatever its size", async () => {
    const scan = numbers(10, () => true, 20 * mebibyte);

    const pages = [];
    let after: string | undefined;
    do {
      const got = await readPage(scan, {
        ...page,
        limit: 100,
        ...(after !== undefined && { after }),
      });
      pages.push(got.items);
      after = got.next;
    } while (after !== undefined);

    expect(pages).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
    ]);
  });

  it("gives others a turn for every MiB that it reads", async () => {
    const scan = numbers(240, () => false, mebibyte / 16);

    await readPage(scan, page);

    expect(scan.turns()).toBe(14);
  });
});

const mebibyte = 1024 * 1024;

describe("a list whose only match lies far behind", () => {
  it("is found by going on from page to page, each from where the one before has looked to", async () => {
    const last = 100;
    const scan = numbers(last, (i) => i === last, 1024 * 1024);
    const found: number[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < 10; pages++) {
      const { items, next } = await readPage(scan, {
        ...page,
        ...(after !== undefined && { after }),
      });
      found.push(...items);
      if (next === undefined) break;
      after = next;
    }

    expect(found).toEqual([last]);
  });
});
