/** Copies the database of a data folder, also while a process uses it, and reads copies back. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteCode } from "./failures.ts";
import { refuseForeign } from "./migrate.ts";
import { lockDirectory } from "./lock.ts";
import { keepOwnerOnly, makeOwnerOnly } from "./owner-only.ts";
import { integer } from "./rows.ts";
import { databaseFile, schema } from "./schema.ts";

export type CopiedDatabase = { readonly bytes: number; readonly messages: number };

/**
 * Copies the database in `dataDir` as of one moment to `target`, which must not exist, and reads the copy back. The copy is on the disk
 * when this returns. Throws, and leaves no copy, when there is no whole database.
 */
export function copyDatabase(dataDir: string, target: string): CopiedDatabase {
  const source = join(dataDir, databaseFile);
  if (existsSync(target)) throw new Error(`${target} is there already`);
  makeOwnerOnly(target);
  const db = new DatabaseSync(source, { readOnly: true });
  try {
    db.prepare("VACUUM INTO ?").run(target);
    sync(target);
    return readCopy(target);
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  } finally {
    db.close();
  }
}

/** Puts a copy into a data folder that has no database and is not in use. Throws when the copy is not whole. */
export function restoreDatabase(copy: string, dataDir: string): CopiedDatabase {
  const unlock = lockDirectory(dataDir);
  try {
    const target = join(dataDir, databaseFile);
    if (existsSync(target)) throw new Error(`${dataDir} already has a ${databaseFile}`);
    const read = readCopy(copy);
    const draft = `${target}.new`;
    rmSync(draft, { force: true });
    makeOwnerOnly(draft);
    copyFileSync(copy, draft);
    keepOwnerOnly(draft);
    sync(draft);
    renameSync(draft, target);
    sync(dataDir);
    return read;
  } finally {
    unlock();
  }
}

/** Returns the version of a folder's database; undefined where there is none. Throws when it is foreign, or a newer Posthaste's. */
export function databaseVersion(dataDir: string): number | undefined {
  const path = join(dataDir, databaseFile);
  if (!existsSync(path)) return undefined;
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return refuseForeign(db, schema);
  } finally {
    db.close();
  }
}

/** Writes what the system holds of a file or a folder to the disk. */
function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** Reads all of a copy. Throws when the file is damaged, foreign, or written by a newer Posthaste. */
function readCopy(path: string): CopiedDatabase {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const [verdict] = db.prepare("PRAGMA integrity_check(1)").all();
    if (verdict?.["integrity_check"] !== "ok")
      throw new Error(`${path} is damaged: ${String(verdict?.["integrity_check"])}`);
    refuseForeign(db, schema);
    const messages = integer(
      db.prepare("SELECT count(*) AS n FROM messages WHERE state < 5").get()?.["n"],
    );
    return { bytes: statSync(path).size, messages };
  } catch (cause) {
    if (sqliteCode(cause) !== "damaged") throw cause;
    throw new Error(`${path} is damaged, or no database`, { cause });
  } finally {
    db.close();
  }
}
