/** Where the benchmark works: inside the repository, because /tmp is memory on many hosts and an fsync there is free. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../..");
const cache = join(repository, ".cache/bench");
export const profilesFolder = join(cache, "profiles");
export const reportFile = join(repository, "bench/REPORT.md");
/** The last figures of each scenario that is measured when asked for only. */
export const askedFolder = join(repository, "bench/asked");

/** A new data folder, and how to remove it. */
export function dataFolder(): { readonly path: string; remove(): void } {
  mkdirSync(cache, { recursive: true });
  const path = mkdtempSync(join(cache, "data-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
