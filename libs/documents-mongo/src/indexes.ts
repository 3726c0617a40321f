/** Indexes as data: each room exports its own, all are made at open. Uniqueness is in `_id` alone. */
import { type Db } from "mongodb";

export type Index = {
  readonly collection: string;
  /** Field to direction, in order. */
  readonly key: Readonly<Record<string, 1 | -1>>;
  /** Only documents that have the field: for tokens that few carry at a time. */
  readonly sparse?: true;
};

/** Makes what is missing; making an index again is nothing. */
export async function makeIndexes(db: Db, indexes: readonly Index[]): Promise<void> {
  for (const [collection, group] of Map.groupBy(indexes, (index) => index.collection)) {
    await db
      .collection(collection)
      .createIndexes(
        group.map(({ key, sparse }) => ({ key: { ...key }, ...(sparse && { sparse }) })),
      );
  }
}
