/** Indexes as data: each part of the adapter exports its own, and `preparation/` builds missing ones. Only `_id` is unique. */
import { type IndexDescription } from "mongodb";

export type Index = {
  readonly collection: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  /**
   * The index holds only documents that have this field, so other documents cost their writers nothing. A query by
   * the index names the field in an equality, or says `$exists: true` beside a range.
   */
  readonly having?: string;
  /**
   * Needed: without the index some query scans a whole collection, or a frequent query scans much of one. A process
   * is ready when all needed indexes are there. Wanted: without the index a list or a walk scans more of its tenant,
   * for `Heavy.msMax` at most.
   */
  readonly is: "needed" | "wanted";
};

/**
 * Returns an index for rounds and sweeps, which ask for documents of some shards up to a time. The time comes first:
 * the server keeps removed entries for minutes, and a scan of one shard steps over the removed entries of all later
 * shards until it meets an entry that is there (ADR 218).
 */
export const byTime = (
  collection: string,
  field: string,
  held: Pick<Index, "having"> = { having: field },
): Index => ({
  ...{ collection, key: { [field]: 1, shard: 1 }, ...held, is: "needed" },
});

/** Returns the indexes in the form of the command that makes them. Making an index again does nothing. */
export const indexesOf = (indexes: readonly Index[]): IndexDescription[] =>
  indexes.map((index) => {
    const filter = filterOf(index);
    return { key: { ...index.key }, ...(filter && { partialFilterExpression: filter }) };
  });

export const filterOf = ({ having }: Index): Readonly<Record<string, unknown>> | undefined =>
  having === undefined ? undefined : { [having]: { $exists: true } };

/** Returns the index's name on the server, such as `tenant_1_place_1`. */
export const nameOf = ({ key }: Index): string => Object.entries(key).flat().join("_");
