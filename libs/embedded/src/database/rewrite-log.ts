/**
 * Before anything is served, what an earlier process has written last is written once more. A sync that fails leaves
 * pages behind that the system takes for written: they can be read, are not on the disk, and no later sync brings them
 * there. What would be acknowledged behind them would stand behind a hole.
 */
import { closeSync, existsSync, fdatasyncSync, openSync, readSync, writeSync } from "node:fs";
import { type DatabaseSync } from "node:sqlite";
import { sqliteCode } from "./failures.ts";
import { integer } from "./rows.ts";

/** `makeRoom`: answers whether some was made on a full disk. */
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

/** All of it goes into the database, which is synced, and the log begins anew. */
function emptyLog(db: Pick<DatabaseSync, "prepare">, path: string): void {
  const answer = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (integer(answer?.["busy"]) !== 0)
    throw new Error(`the database ${path} cannot be brought up to date: another program reads it`);
}

const bytesPerWrite = 1024 * 1024;

/** A full disk must not keep us from starting, and the same bytes in the same place need no room. */
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
