/**
 * The sync of a commit, beside the event loop. SQLite would sync inside COMMIT and hold this thread for as long as the
 * disk takes; so the connection runs with `synchronous=NORMAL`, where a commit writes the write-ahead log and a checkpoint
 * syncs it, and the log is synced here after each commit, on a thread of Node's pool, before any caller is told. What is on
 * the disk when a caller hears of its commit is the same as with `FULL` (ADR 5).
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

export type Sync = {
  /** Ends when every commit made before the call is on the disk, or with the reason why that is not known. */
  run(done: (error: Error | null) => void): void;
  /** The same, at once; throws. */
  runNow(): void;
  close(): void;
};

/** `path`: of the database, whose log is there by now. */
export function openWalSync(path: string): Sync {
  const file = openLog(path);
  return {
    run: (done) => fdatasync(file, done),
    runNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}

/** The log's name in its directory must outlive a power cut, too. */
function openLog(path: string): number {
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
  return openSync(`${path}-wal`, "r+");
}
