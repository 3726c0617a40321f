/**
 * Writes the write-ahead log of an earlier process once more before anything is served. A failed sync leaves pages
 * behind that the system takes for written: they can be read, are not on the disk, and no later sync writes them. A
 * commit acknowledged after such pages would be lost with them.
 */
import { closeSync, existsSync, fdatasyncSync, openSync, readSync, writeSync } from "node:fs";
import { type DatabaseSync } from "node:sqlite";
import { sqliteCode } from "./failures.ts";
import { integer } from "./rows.ts";

/** `makeRoom` reports whether it made room on a full disk. */
export function rewriteLog(
  db: Pick<DatabaseSync, "prepare">,
  path: string,
  makeRoom: () => boolean,
): void {
  try {
    emptyLog(db, path);
  } catch (error) {
    if (sqliteCode(error) !== "full") throw error;
    if (makeRoom()) rewriteLog(db, path, () => false);
    else writeAgain(`${path}-wal`);
  }
}

/** Moves all of the log into the database, which is synced, and truncates the log. */
function emptyLog(db: Pick<DatabaseSync, "prepare">, path: string): void {
  const answer = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (integer(answer?.["busy"]) !== 0)
    throw new Error(`the database ${path} cannot be brought up to date: another program reads it`);
}

const bytesPerWrite = 1024 * 1024;

/** Overwrites the log with its own bytes. A full disk must not prevent a start, and the same bytes in the same place need no space. */
function writeAgain(log: string): void {
  if (!existsSync(log)) return;
  const file = openSync(log, "r+");
  try {
    const block = Buffer.alloc(bytesPerWrite);
    let at = 0;
    for (let n = readSync(file, block, 0, block.length, at); n > 0;) {
      writeSync(file, block, 0, n, at);
      at += n;
      n = readSync(file, block, 0, block.length, at);
    }
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}
