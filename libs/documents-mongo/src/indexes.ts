/** Indexes as data: each room exports its own, all are made at open. Uniqueness is in `_id` alone. */
import { type Db } from "mongodb";

export type Index = {
  readonly collection: string;
  /** Field to direction, in order. */
  readonly key: Readonly<Record<string, 1 | -1>>;
  /**
   * Only documents that have this field: the rest cost their writers nothing. A query by it names the field in an
   * equality, or says `$exists: true` beside a range.
   */
  readonly having?: string;
};

/** Makes what is missing; making an index again is nothing. */
export async function makeIndexes(db: Db, indexes: readonly Index[]): Promise<void> {
  for (const [collection, group] of Map.groupBy(indexes, (index) => index.collection)) {
    await db.collection(collection).createIndexes(
      group.map(({ key, having }) => ({
        key: { ...key },
        ...(having !== undefined && {
          partialFilterExpression: { [having]: { $exists: true } },
        }),
      })),
    );
  }
}
