/** Indexes as data: each room exports its own, `preparation/` builds what is missing. Uniqueness is in `_id` alone. */
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
  /**
   * Needed: without it some query passes over a whole collection, or one of the hot path over much of it; a process is up when
   * all of these are there. Wanted: without it a list or a walk passes over more of its tenant, for `heavyMsMax` at the
   * longest.
   */
  readonly is: "needed" | "wanted";
};

/** As the server is asked for them. Making an index again is nothing. */
export const indexesOf = (indexes: readonly Index[]): IndexDescription[] =>
  indexes.map((index) => {
    const filter = filterOf(index);
    return { key: { ...index.key }, ...(filter && { partialFilterExpression: filter }) };
  });

/** Which documents the index holds, as the server is told. */
export const filterOf = ({ having }: Index): Readonly<Record<string, unknown>> | undefined =>
  having === undefined ? undefined : { [having]: { $exists: true } };

/** `tenant_1_place_1`, as the server names it. */
export const nameOf = ({ key }: Index): string => Object.entries(key).flat().join("_");
