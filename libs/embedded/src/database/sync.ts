/**
 * Syncs each commit on a thread of Node's pool. SQLite would sync inside COMMIT and hold the event loop for as long as the disk takes. So
 * the connection runs with `synchronous=NORMAL`, where a commit writes the write-ahead log and a checkpoint syncs it; the log is synced
 * here after each commit, before any caller is told. When a caller is told of its commit, the same is on the disk as with `FULL` (ADR 5).
 */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

export type Sync = {
  /** Resolves when every commit made before the call is on the disk; rejects when this is unknown. */
  run(): Promise<void>;
  /** Syncs before it returns, or throws. */
  runNow(): void;
  close(): void;
};

const syncData = promisify(fdatasync);

/** `path` is the path of the database, whose log must exist. */
export function openWalSync(path: string): Sync {
  const file = openLog(path);
  return {
    run: () => syncData(file),
    runNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}

/** Syncs the directory too: the log's name in it must outlive a power cut. */
function openLog(path: string): number {
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
  return openSync(`${path}-wal`, "r+");
}
