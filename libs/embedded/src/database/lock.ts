/**
 * The lock on a data directory: an exclusive lock on a file of its own, since the database itself is opened twice. It is
 * the kernel's, so it dies with the process, however that dies.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteCode } from "./failures.ts";
import { makeOwnerOnly } from "./owner-only.ts";

/** Answers how to let go. Throws when another process (or this one) has the directory open. */
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
