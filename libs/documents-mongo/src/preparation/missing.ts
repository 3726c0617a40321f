/** Which indexes are not there yet, and in which order they are built. */
import { type Db, type Document } from "mongodb";
import { filterOf, type Index } from "../indexes.ts";
import { codeOf } from "../failures.ts";

/** Returns the indexes that the server lacks, or has not finished building. */
export const missingIndexes = (db: Db, indexes: readonly Index[]): Promise<readonly Index[]> =>
  among(db, indexes, (index, isBuilt) => (isBuilt(index.key, index) ? [] : index));

/** Returns the indexes that others have replaced and that are there still. */
export const replacedIndexes = (
  db: Db,
  indexes: readonly Index[],
): Promise<readonly Pick<Index, "collection" | "key">[]> =>
  among(db, indexes, (index, isBuilt) => {
    const { collection, replaces: key } = index;
    return key !== undefined && isBuilt(key, index) ? { collection, key } : [];
  });

type IsBuilt = (key: Index["key"], having: Index) => boolean;

async function among<T>(
  db: Db,
  indexes: readonly Index[],
  choose: (index: Index, isBuilt: IsBuilt) => T | readonly T[],
): Promise<readonly T[]> {
  const byCollection = [...Map.groupBy(indexes, ({ collection }) => collection)];
  const chosen = await Promise.all(
    byCollection.map(async ([name, own]) => {
      const there = await builtIn(db, name);
      const isBuilt: IsBuilt = (key, index) => there.has(textOf(key, filterOf(index)));
      return own.flatMap((index) => choose(index, isBuilt));
    }),
  );
  return chosen.flat();
}

async function builtIn(db: Db, name: string): Promise<ReadonlySet<string>> {
  // With `includeBuildUUIDs` the server lists an index under way apart from finished ones; without it, as if it were finished.
  const command = { listIndexes: name, includeBuildUUIDs: true };
  const found = await db.runCursorCommand(command).toArray().catch(none);
  return new Set(
    found.map(({ key, partialFilterExpression }) => textOf(key, partialFilterExpression)),
  );
}

const textOf = (key: unknown, filter: unknown): string => JSON.stringify([key, filter]);

/** Returns no indexes where there is no such collection yet. */
function none(error: unknown): readonly Document[] {
  if (codeOf(error) !== namespaceNotFound) throw error;
  return [];
}
const namespaceNotFound = 26;

export type Step = { readonly collection: string; readonly indexes: readonly Index[] };

/**
 * Orders the steps. Small collections come first and whole, so that a new database lacks nothing when the last needed index
 * is there; then the needed indexes of large ones, then the wanted ones. Pure.
 */
export function stepsOf(
  missing: readonly Index[],
  isSmall: (collection: string) => boolean,
): readonly Step[] {
  const stepsAmong = (chosen: (index: Index) => boolean): readonly Step[] =>
    [...Map.groupBy(missing.filter(chosen), ({ collection }) => collection)].map(
      ([collection, indexes]) => ({ collection, indexes }),
    );
  const small = stepsAmong(({ collection }) => isSmall(collection));
  const onlyWanted = ({ indexes }: Step): boolean => indexes.every(({ is }) => is === "wanted");
  return [
    ...small.filter(onlyWanted),
    ...small.filter((step) => !onlyWanted(step)),
    ...stepsAmong(({ collection, is }) => !isSmall(collection) && is === "needed"),
    ...stepsAmong(({ collection, is }) => !isSmall(collection) && is === "wanted"),
  ];
}
