import { describe, expect, it } from "@jest/globals";
import { type ListOrder } from "@posthaste/domain";
import { anotherTenant, aTenant } from "@posthaste/testing";
import { type Connection } from "../connection.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { type Placed, placeOf } from "./placed.ts";
import { type PageBounds, pageCursor, readPage, type Scan } from "./read-page.ts";
import { servers } from "../servers.fixture.ts";

const all: Scan<number> = {
  tenant: aTenant,
  filter: {},
  conditions: {},
  isById: false,
  bytesOf: () => 0,
  bodyFields: [],
  cut: (item) => item,
};
const unbounded: PageBounds = { rows: 1_000, bytes: 1_000, held: 1_000 };

describe.each(servers)("$name: pages", ({ uri }) => {
  const open = freshDatabase(uri, [
    { collection: "rows", key: { tenant: 1, place: 1 }, is: "needed" },
  ]);
  const rowsOf = (connection: Connection) => connection.collection<Placed<number>>("rows");

  /** Opens a collection with twenty numbers, one in each millisecond, and another tenant's number. */
  const opened = async (): Promise<Connection> => {
    const { connection } = await open();
    await rowsOf(connection).insertMany(
      Array.from({ length: 20 }, (_, i) => [
        { _id: `${i}`, tenant: aTenant, place: placeOf(i, "x"), item: i },
        { _id: `their ${i}`, tenant: anotherTenant, place: placeOf(i, "y"), item: i },
      ]).flat(),
    );
    return connection;
  };

  async function readPages(
    connection: Connection,
    scan: Scan<number>,
    bounds: PageBounds,
    order: ListOrder = "earliestFirst",
  ): Promise<readonly (readonly number[])[]> {
    const pages: (readonly number[])[] = [];
    let after: string | undefined;
    // More pages than rows would be a bug, too.
    for (let n = 0; n <= 20; n++) {
      const request = { limit: 8, order, ...(after !== undefined && { after }) };
      const page = await readPage(connection.heavy, rowsOf(connection), scan, request, bounds);
      pages.push(page.items);
      if (page.next === undefined) return pages;
      after = page.next;
    }
    throw new Error("a list that does not end");
  }

  it("are short rather than large; an item that is too large is a page of its own", async () => {
    const sizes = [15, 15, 15, 100, 1];
    const scan = { ...all, filter: { to: 4 }, bytesOf: (i: number) => sizes[i] ?? 0 };

    const pages = await readPages(await opened(), scan, { ...unbounded, bytes: 32 });

    expect(pages).toEqual([[0, 1], [2], [3], [4]]);
  });

  it.each([
    ["earliestFirst", [[], [], [11, 12, 13, 14], [15, 16, 17]]],
    ["latestFirst", [[17, 16, 15, 14], [13, 12, 11], [], []]],
  ] as const)(
    "are short rather than slow when the filter wants little, and leave nothing out: %s",
    async (order, expected) => {
      const conditions = { item: { $in: [11, 12, 13, 14, 15, 16, 17] } };
      const scan = { ...all, filter: { from: 0, to: 18 }, conditions };

      const pages = await readPages(await opened(), scan, { ...unbounded, rows: 5 }, order);

      expect(pages).toEqual(expected);
    },
  );

  it("are full, whatever rows lie between, when an index has the filter's field", async () => {
    const scan = { ...all, conditions: { item: { $in: [1, 18] } }, isById: true };

    expect(await readPages(await opened(), scan, { ...unbounded, rows: 5 })).toEqual([[1, 18]]);
  });

  it.each([
    ["all", {}],
    ["those of a time", { from: 3, to: 7 }],
    ["those behind a cursor", { after: placeOf(4, "x") }],
  ] as const)(
    "are read by the index: %s",
    async (_, { after, ...filter }: { after?: string; from?: number; to?: number }) => {
      const request = {
        limit: 3,
        order: "latestFirst",
        ...(after !== undefined && { after }),
      } as const;
      const cursor = pageCursor(rowsOf(await opened()), { ...all, filter }, request);

      const plan = JSON.stringify(await cursor.explain("queryPlanner"));

      expect(plan).toContain('"indexName":"tenant_1_place_1"');
      expect(plan).not.toMatch(/COLLSCAN/);
    },
  );
});
