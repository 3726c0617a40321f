/** Secrets that are overwritten or removed are to be gone from the file, too, not merely out of its tables. */
import { type DatabaseSync } from "node:sqlite";

/**
 * Inside a write. SQLite leaves what it frees as it was unless it is told otherwise; told so always, it would write every
 * removed message once more. What the write-ahead log still holds goes when the store is closed.
 */
export function erasing<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA secure_delete = ON");
  try {
    return work();
  } finally {
    db.exec("PRAGMA secure_delete = OFF");
  }
}
