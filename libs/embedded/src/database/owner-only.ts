/**
 * Files that only our own user may read, whatever the mask of the process and of the folder. SQLite gives its log and its
 * shared memory the mode of the database, so what it makes later follows from what is made here.
 *
 * A file that is there is never opened here: to close it would let go of the locks that this process has on it.
 */
import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";

const ownerOnly = 0o600;

/** Makes the file when it is not there. */
export function makeOwnerOnly(path: string): void {
  if (existsSync(path)) keepOwnerOnly(path);
  else closeSync(openSync(path, "ax", ownerOnly));
}

/** What an earlier process may have left. Another user's file that we may use is left to that user. */
export function keepOwnerOnly(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && found.uid === process.getuid?.()) chmodSync(path, ownerOnly);
}
