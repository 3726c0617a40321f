/** Many conditional writes on single documents in one call. */
import { type AnyBulkWriteOperation, type Collection, type Document } from "mongodb";
import { refusedIn } from "../link/failures.ts";
import { type Again } from "../link/retry.ts";

/** `matched`: how many operations met their condition. `refused`: the places of operations that the server refused, e.g. as too large. */
export type Written = { readonly matched: number; readonly refused: ReadonlySet<number> };

/** Makes the writes unordered: a refused operation stops no other. After a lost reply `matched` counts only the repetition. */
export async function writeAll<T extends Document>(
  again: Again,
  collection: Collection<T>,
  operations: readonly AnyBulkWriteOperation<T>[],
): Promise<Written> {
  if (operations.length === 0) return { matched: 0, refused: new Set() };
  return again(async () => {
    try {
      const { matchedCount } = await collection.bulkWrite([...operations], { ordered: false });
      return { matched: matchedCount, refused: new Set<number>() };
    } catch (error) {
      const { matched, refused } = refusedIn(error);
      return { matched, refused: new Set(refused.map(({ index }) => index)) };
    }
  });
}

/**
 * Makes writes of which some insert a missing document: when two calls insert the same one at once, the server refuses one,
 * which updates the document in the next round.
 */
export async function upsertAll<T extends Document>(
  again: Again,
  collection: Collection<T>,
  operations: readonly AnyBulkWriteOperation<T>[],
): Promise<void> {
  let left = operations;
  for (let round = 0; left.length > 0 && round < roundsMax; round++) {
    const { refused } = await writeAll(again, collection, left);
    left = left.filter((_, n) => refused.has(n));
  }
  if (left.length > 0) throw new Error(`${collection.collectionName} could not be written`);
}
const roundsMax = 5;
