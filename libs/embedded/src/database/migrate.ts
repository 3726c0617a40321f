import { type DatabaseSync } from "node:sqlite";
import { integer, type Row } from "./rows.ts";

/** "PHst", which marks the file as Posthaste's, so that a foreign database is refused before it is changed. */
const applicationId = 0x50487374;

/** The first step makes a database of `firstVersion`, and each later one brings it to the next version. */
export type Schema = { readonly firstVersion: number; readonly steps: readonly string[] };

const lastVersionOf = ({ firstVersion, steps }: Schema): number => firstVersion + steps.length - 1;

/**
 * Brings the file to the last version of the schema, in one transaction. Throws for a version that is none of the schema's, and for a
 * foreign file.
 */
export function migrate(db: DatabaseSync, schema: Schema): void {
  const version = refuseForeign(db, schema);
  const lastVersion = lastVersionOf(schema);
  if (version === lastVersion) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const stepsDone = version === 0 ? 0 : version - schema.firstVersion + 1;
    for (const step of schema.steps.slice(stepsDone)) db.exec(step);
    db.exec(
      `PRAGMA user_version = ${lastVersion}; PRAGMA application_id = ${applicationId}; COMMIT`,
    );
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Returns the version of the file's schema, 0 for an empty file. Throws where migrating would. */
export function refuseForeign(db: DatabaseSync, schema: Schema): number {
  const version = pragma(db, "user_version");
  const owner = pragma(db, "application_id");
  const tables = integer(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  if (owner !== applicationId && tables > 0)
    throw new Error("the database was not made by Posthaste");
  const lastVersion = lastVersionOf(schema);
  if (version > lastVersion) {
    throw new Error(
      `the database has schema version ${version}, this program knows ${lastVersion}: it was written by a newer Posthaste`,
    );
  }
  if (version > 0 && version < schema.firstVersion)
    throw new Error(`the database has schema version ${version}, which is older than any release`);
  return version;
}

function pragma(db: DatabaseSync, name: string): number {
  const row: Row | undefined = db.prepare(`PRAGMA ${name}`).get();
  return integer(row?.[name]);
}
