/** Fetches jars by a committed pom and compares them with a committed lock. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needTools, runWithPatience } from "../process/run.ts";
import { verify } from "./checksums.ts";

/** `recipe` holds `pom.xml` and `jars.sha256`. The jars are put into `folder`. */
export async function fetchJars(recipe: string, folder: string): Promise<void> {
  needTools("mvn");
  mkdirSync(folder, { recursive: true });
  // Maven leaves files beside the pom.
  const work = mkdtempSync(join(tmpdir(), "posthaste-maven-"));
  try {
    copyFileSync(join(recipe, "pom.xml"), join(work, "pom.xml"));
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`];
    await runWithPatience("mvn", ["-q", "-B", ...goal], { cwd: work });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  verify(folder, join(recipe, "jars.sha256"));
}

/** Returns a hash of the files, as part of a cache key. */
export function fingerprint(...files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}
