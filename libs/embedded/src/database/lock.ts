/**
 * The lock on a data directory: an exclusive lock on a file of its own, since the database file is opened twice. The kernel holds the
 * lock, so it ends with the process, however that ends.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteCode } from "./failures.ts";
import { makeOwnerOnly } from "./owner-only.ts";

/** Returns a function that releases the lock. Throws when this or another process has the directory open. */
export function lockDirectory(dataDir: string): () => void {
  const path = join(dataDir, "lock");
  makeOwnerOnly(path);
  const lock = new DatabaseSync(path);
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    if (sqliteCode(cause) !== "busy") throw cause;
    throw new Error(`the data directory ${dataDir} is in use by another process`, { cause });
  }
  return () => lock.close();
}
