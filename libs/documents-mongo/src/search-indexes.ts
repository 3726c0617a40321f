/** The SearchIndexes port: a document for each index. They are few, so that lists are sorted here. */
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { changeByToken, type Kept, newWrite } from "./change-by-token.ts";
import { type Connection } from "./connection.ts";
import { insertMissing } from "./insert-missing.ts";

type IndexDocument = Kept<SearchIndex, string>;

export function createSearchIndexes({ again, collection, random }: Connection): SearchIndexes {
  const indexes = collection<IndexDocument>("search_indexes");
  const find = async (_id: string) => (await again(() => indexes.findOne({ _id })))?.now;
  return {
    list: async () => {
      const found = await again(() => indexes.find().toArray());
      return found.map(({ now }) => now.item).toSorted(byAge);
    },
    get: async (id) => (await find(id))?.item,
    add: async (item) => {
      const now = { item, write: newWrite(random) };
      await insertMissing(again, indexes, [{ _id: item.id, now }]);
    },
    change: (_id, change) =>
      changeByToken<SearchIndex, never>(
        {
          random,
          find: () => find(_id),
          swap: async (write, next) => {
            const seen = { _id, "now.write": write };
            const swapped = await again(() => indexes.updateOne(seen, { $set: { now: next } }));
            return swapped.matchedCount > 0;
          },
        },
        change,
      ),
    remove: async (id) => {
      await again(() => indexes.deleteOne({ _id: id }));
    },
  };
}

const byAge = (a: SearchIndex, b: SearchIndex): number =>
  a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
