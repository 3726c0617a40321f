/**
 * The format of the database as a whole (ADR 182). A single document that a build may not know has a `format` of its
 * own (ADR 27); migrations change existing documents.
 */
import { type Db } from "mongodb";
import { formatsOf } from "./meta.ts";

/** Changes documents to the next format. May be interrupted and repeated, and may run beside processes of the format before. */
export type Migration = {
  readonly name: string;
  readonly run: (db: Db) => Promise<void>;
};

/** The migrations in order, from format 1 on. Only ever added to. */
export const migrations: readonly Migration[] = [];

export const formatAfter = (steps: readonly Migration[]): number => firstFormat + steps.length;

/** The format of a database that names none: the database is new, or older than formats. */
export const firstFormat = 1;

export async function readFormat(db: Db): Promise<number | undefined> {
  const found = await formatsOf(db).findOne({ _id: "format" });
  return found?.format;
}

export function refuseNewer(db: Db, format: number, known: number): void {
  if (format > known)
    throw new Error(
      `the database ${db.databaseName} has format ${format}, this program knows ${known}: it was written by a newer Posthaste`,
    );
}

/** Runs the remaining migrations, in order, and records the format after each. */
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
