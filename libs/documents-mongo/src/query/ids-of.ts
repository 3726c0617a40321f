/** Reads the ids of documents, and removes documents by them: a delete has no bound of its own. */
import {
  type Collection,
  type Document,
  type Filter,
  type FindOptions,
  type InferIdType,
} from "mongodb";
import { inOneReply } from "../messages/store.ts";
import { type Again } from "../link/retry.ts";

type Bounds = Pick<FindOptions, "limit" | "sort">;

export async function idsOf<T extends Document>(
  again: Again,
  collection: Collection<T>,
  filter: Filter<T>,
  bounds: Bounds = {},
): Promise<readonly InferIdType<T>[]> {
  const options = { ...inOneReply, ...bounds, projection: { _id: 1 } };
  const found = await again(() => collection.find(filter, options).toArray());
  return found.map(({ _id }) => _id);
}

/** Removes at most `limit` documents. Returns how many it found. */
export async function removeSome<T extends Document>(
  again: Again,
  collection: Collection<T>,
  filter: Filter<T>,
  bounds: Bounds & { readonly limit: number },
): Promise<number> {
  const ids = await idsOf(again, collection, filter, bounds);
  const those = { _id: { $in: ids } } as Filter<T>;
  if (ids.length > 0) await again(() => collection.deleteMany({ ...those, ...filter }));
  return ids.length;
}
