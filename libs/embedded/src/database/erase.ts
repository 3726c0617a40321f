/** Erases overwritten and removed secrets from the file, not merely from its tables. */
import { type DatabaseSync } from "node:sqlite";

/**
 * Carries out `work` with SQLite's `secure_delete` on. For use inside a write. Without it SQLite leaves freed bytes as they were; if it
 * were always on, every removed message would be written once more. Bytes in the write-ahead log are erased when the store is closed.
 */
export function erasing<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    db.exec("PRAGMA secure_delete = OFF");
  }
}
