/** A temporary folder that is removed however this process ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addWill, removeWill } from "./process/last-will.ts";

export type WorkFolder = { readonly path: string; remove(): void };

export function createWorkFolder(): WorkFolder {
  const path = mkdtempSync(join(tmpdir(), "posthaste-stack-"));
  addWill(`folder ${path}`);
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true });
      removeWill(`folder ${path}`);
    },
  };
}
