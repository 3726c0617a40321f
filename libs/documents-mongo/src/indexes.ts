/** Indexes as data: each room exports its own, all are made at open (index-builder.ts). Uniqueness is in `_id` alone. */
import { type IndexDescription } from "mongodb";

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

/** As the server is asked for them. Making an index again is nothing. */
export const indexesOf = (indexes: readonly Index[]): IndexDescription[] =>
  indexes.map(({ key, having }) => ({
    key: { ...key },
    ...(having !== undefined && { partialFilterExpression: { [having]: { $exists: true } } }),
  }));
