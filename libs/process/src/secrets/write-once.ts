/** Writes files that must be whole or absent: secrets that cannot be made a second time. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file that its owner alone may read. The file is never seen half-written, and is on the disk when this returns. The caller has the
 * folder to itself.
 */
export function writeOnce(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** A rename is on the disk when its folder is. */
function syncFolder(folder: string): void {
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
