/** The SearchIndexes port: a document for each index. There are few, so lists are sorted here. */
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { type Connection } from "./connection.ts";
import { openKept } from "./writes/kept.ts";

export function createSearchIndexes(connection: Connection): SearchIndexes {
  const { add, all, change, get, remove } = openKept<SearchIndex>(connection, "search_indexes");
  return {
    list: async () => (await all()).toSorted(byAge),
    page: async ({ after, limit }) => {
      const sorted = (await all()).toSorted(byAge);
      const from = after ? sorted.findIndex((index) => byAge(index, after) > 0) : 0;
      return from < 0 ? [] : sorted.slice(from, from + limit);
    },
    get,
    add: async (item) => {
      await add(item.id, item);
    },
    change: (id, to) => change<never>(id, to),
    remove,
  };
}

type Aged = Pick<SearchIndex, "createdAt" | "id">;

const byAge = (a: Aged, b: Aged): number =>
  a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id));
