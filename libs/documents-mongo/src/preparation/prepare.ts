/** Brings a database to the newest format, then builds the indexes of this build. Only the holder of the lease calls it. */
import { type Db } from "mongodb";
import { type Index, indexesOf } from "../indexes.ts";
import {
  firstFormat,
  formatAfter,
  type Migration,
  migrateFormats,
  readFormat,
  refuseNewer,
} from "./formats.ts";
import { missingIndexes, type Step, stepsOf } from "./missing.ts";

export type Wanted = {
  readonly indexes: readonly Index[];
  readonly migrations: readonly Migration[];
};

export type Missing = {
  readonly migrations: readonly Migration[];
  readonly isUnmarked: boolean;
  readonly indexes: readonly Index[];
};

/** Throws when a newer build has written the database. */
export async function missingIn(db: Db, { indexes, migrations }: Wanted): Promise<Missing> {
  const format = await readFormat(db);
  refuseNewer(db, format ?? firstFormat, formatAfter(migrations));
  return {
    migrations: migrations.slice((format ?? firstFormat) - firstFormat),
    isUnmarked: format === undefined,
    indexes: await missingIndexes(db, indexes),
  };
}

export type PrepareOptions = {
  readonly goesOn: () => boolean;
  readonly begins: (step: Migration | Step) => void;
};

/** Each step may be interrupted and repeated: the server joins a running build of the same indexes. */
export async function prepare(
  db: Db,
  { indexes, migrations }: Wanted,
  { begins, goesOn }: PrepareOptions,
): Promise<void> {
  const begin = (step: Migration | Step): void => {
    if (!goesOn()) throw new Error("the lease of the builder was lost");
    begins(step);
  };
  await migrateFormats(db, migrations, begin);
  const missing = await missingIndexes(db, indexes);
  const small = await smallAmong(db, missing);
  for (const step of stepsOf(missing, (collection) => small.has(collection))) {
    begin(step);
    // By default all members vote, and a member that is away would hold the build up until it is back.
    const options = { commitQuorum: "majority" };
    await db.collection(step.collection).createIndexes(indexesOf(step.indexes), options);
  }
}

async function smallAmong(db: Db, indexes: readonly Index[]): Promise<ReadonlySet<string>> {
  const names = [...new Set(indexes.map(({ collection }) => collection))];
  const counted = await Promise.all(
    names.map(async (name) => {
      const count = await db.collection(name).estimatedDocumentCount();
      return count <= smallMax ? name : [];
    }),
  );
  return new Set(counted.flat());
}
/** All indexes of this many documents are built within a second. */
const smallMax = 10_000;
