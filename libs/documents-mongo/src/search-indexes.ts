/** The SearchIndexes port: a document for each index. They are few, so that lists are sorted here. */
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { type Connection } from "./connection.ts";
import { openKept } from "./kept.ts";

export function createSearchIndexes(connection: Connection): SearchIndexes {
  const { add, all, change, get, remove } = openKept<SearchIndex>(connection, "search_indexes");
  return {
    list: async () => (await all()).toSorted(byAge),
    get,
    add: async (item) => {
      await add(item.id, item);
    },
    change: (id, to) => change<never>(id, to),
    remove,
  };
}

const byAge = (a: SearchIndex, b: SearchIndex): number =>
  a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
