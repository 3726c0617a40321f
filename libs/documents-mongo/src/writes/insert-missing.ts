/** Insert if absent, by `_id`: one unordered insert in which a refused duplicate is a success. */
import { type Collection, type Document, type OptionalUnlessRequiredId } from "mongodb";
import { duplicatesIn } from "../link/failures.ts";
import { type Again } from "../link/retry.ts";

/** Returns the places of documents whose `_id` was there already. After a lost reply these include the caller's own. */
export async function insertMissing<T extends Document>(
  again: Again,
  collection: Collection<T>,
  documents: readonly OptionalUnlessRequiredId<T>[],
): Promise<ReadonlySet<number>> {
  if (documents.length === 0) return new Set();
  return again(async () => {
    try {
      await collection.insertMany([...documents], { ordered: false });
      return new Set<number>();
    } catch (error) {
      return new Set(duplicatesIn(error));
    }
  });
}
