/** The benchmark's folders, inside the repository, because /tmp is memory on many hosts and an fsync there is free. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../..");
const cache = join(repository, ".cache/bench");
export const profilesFolder = join(cache, "profiles");
export const reportFile = join(repository, "bench/REPORT.md");
/** Holds the last figures of each scenario that runs only by name. */
export const askedFolder = join(repository, "bench/asked");

export function dataFolder(): { readonly path: string; remove(): void } {
  mkdirSync(cache, { recursive: true });
  const path = mkdtempSync(join(cache, "data-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
