import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder among the temporary files of the suite, which are removed when the suite has ended. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "folder-"));
}
