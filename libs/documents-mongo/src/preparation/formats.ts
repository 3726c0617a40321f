/**
 * The format of the database as a whole (ADR 182). One document that a build does not know has a `format` of its own (ADR 27);
 * what is here changes documents that are there already.
 */
import { type Db } from "mongodb";
import { formatsOf } from "./meta.ts";

/** Brings documents to the next format. May be cut off and run again, and beside processes of the format before. */
export type Migration = {
  /** Reads on from "documents: ". */
  readonly name: string;
  readonly run: (db: Db) => Promise<void>;
};

/** In order, from format 1 on. Only ever added to. */
export const migrations: readonly Migration[] = [];

/** The format that so many migrations lead to. */
export const formatAfter = (steps: readonly Migration[]): number => firstFormat + steps.length;

/** Of a database that says nothing: it is new, or older than this. */
export const firstFormat = 1;

/** Returns undefined when the database says nothing. */
export async function readFormat(db: Db): Promise<number | undefined> {
  const found = await formatsOf(db).findOne({ _id: "format" });
  return found?.format;
}

/** Throws when the database has a format that this build does not know. */
export function refuseNewer(db: Db, format: number, known: number): void {
  if (format > known)
    throw new Error(
      `the database ${db.databaseName} has format ${format}, this program knows ${known}: it was written by a newer Posthaste`,
    );
}

/** Runs the steps that are left, in order, and writes the format down after each. */
export async function migrateFormats(
  db: Db,
  steps: readonly Migration[],
  before: (step: Migration) => void,
): Promise<void> {
  const formats = formatsOf(db);
  const format = (await readFormat(db)) ?? firstFormat;
  refuseNewer(db, format, formatAfter(steps));
  const set = async (next: number): Promise<void> => {
    await formats.updateOne({ _id: "format" }, { $max: { format: next } }, { upsert: true });
  };
  await set(format);
  for (const [done, step] of steps.entries()) {
    const from = firstFormat + done;
    if (from < format) continue;
    before(step);
    await step.run(db);
    await set(from + 1);
  }
}
