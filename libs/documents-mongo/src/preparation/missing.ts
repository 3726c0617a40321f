/** Finds which indexes are missing, and in which order to build them. */
import { type Db, type Document } from "mongodb";
import { filterOf, type Index } from "../indexes.ts";
import { codeOf } from "../link/failures.ts";

/** Returns the indexes that the server lacks or is still building. */
export async function missingIndexes(db: Db, indexes: readonly Index[]): Promise<readonly Index[]> {
  const byCollection = [...Map.groupBy(indexes, ({ collection }) => collection)];
  const missing = await Promise.all(
    byCollection.map(async ([collection, own]) => {
      const there = await builtIn(db, collection);
      return own.filter((index) => !there.has(textOf(index.key, filterOf(index))));
    }),
  );
  return missing.flat();
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

/** Returns no indexes if the collection does not exist yet. */
function none(error: unknown): readonly Document[] {
  if (codeOf(error) !== namespaceNotFound) throw error;
  return [];
}
const namespaceNotFound = 26;

export type Step = { readonly collection: string; readonly indexes: readonly Index[] };

/**
 * Orders the steps. Small collections come first and completely, so that a new database lacks nothing when the last
 * needed index is built; then the needed indexes of large ones, then the wanted ones. Pure.
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
