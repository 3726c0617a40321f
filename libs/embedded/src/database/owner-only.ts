/**
 * Makes files that only our own user may read, whatever the mask of the process and of the folder. SQLite gives its log and its shared
 * memory the mode of the database, so files that SQLite makes later follow.
 *
 * An existing file is never opened here: closing it would release the locks that this process has on it.
 */
import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";

const ownerOnly = 0o600;

/** Makes the file where it is missing. */
export function makeOwnerOnly(path: string): void {
  if (existsSync(path)) keepOwnerOnly(path);
  else closeSync(openSync(path, "ax", ownerOnly));
}

/** Tightens the mode of a file that an earlier process may have left. A file of another user is left as it is. */
export function keepOwnerOnly(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && found.uid === process.getuid?.()) chmodSync(path, ownerOnly);
}
