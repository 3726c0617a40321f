import { describe, expect, it } from "@jest/globals";
import { aTenant } from "@posthaste/testing";
import { freshDatabase, patienceMs, servers } from "../opened.fixture.ts";
import { type Placed, placeOf } from "./placed.ts";
import { readPage } from "./read-page.ts";

describe.each(servers)("$name: a page", ({ uri }) => {
  const open = freshDatabase(uri, []);

  it(
    "is short rather than large, and says where to go on; what is too large alone is a page alone",
    async () => {
      const { connection } = await open();
      const rows = connection.collection<Placed<number>>("rows");
      await rows.insertMany(
        Array.from({ length: 5 }, (_, i) => ({
          _id: String(i),
          tenant: aTenant,
          place: placeOf(i, "x"),
          item: i,
        })),
      );
      const mebibytes = [15, 15, 15, 100, 1];
      const bytesOf = (i: number): number => (mebibytes[i] ?? 0) * 1024 * 1024;
      const scan = { tenant: aTenant, filter: {}, conditions: {}, bytesOf };

      const pages: (readonly number[])[] = [];
      for (let after: string | undefined, isLast = false; !isLast;) {
        const request = { limit: 4, order: "earliestFirst", ...(after !== undefined && { after }) };
        const { items, next } = await readPage(connection.again, rows, scan, {
          ...request,
          order: "earliestFirst",
        });
        pages.push(items);
        [after, isLast] = [next, next === undefined];
      }

      expect(pages).toEqual([[0, 1], [2], [3], [4]]);
    },
    patienceMs,
  );
});
