import { type DatabaseSync } from "node:sqlite";
import { integer, type Row } from "./rows.ts";

/** "PHst": marks the file as ours, so that a foreign database is refused before it is changed. */
const applicationId = 0x50487374;

/** Migrates the file to the last version of the list, in one transaction. Throws for a newer file and for a foreign one. */
export function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  const version = refuseForeign(db, migrations);
  if (version === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(
      `PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${applicationId}; COMMIT`,
    );
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Returns the version of the file's schema. Throws for a newer file and for a foreign one. */
export function refuseForeign(db: DatabaseSync, migrations: readonly string[]): number {
  const version = pragma(db, "user_version");
  const owner = pragma(db, "application_id");
  const tables = integer(db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  if (owner !== applicationId && tables > 0)
    throw new Error("the database was not made by Posthaste");
  if (version > migrations.length) {
    throw new Error(
      `the database has schema version ${version}, this program knows ${migrations.length}: it was written by a newer Posthaste`,
    );
  }
  return version;
}

function pragma(db: DatabaseSync, name: string): number {
  const row: Row | undefined = db.prepare(`PRAGMA ${name}`).get();
  return integer(row?.[name]);
}
