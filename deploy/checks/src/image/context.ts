/** The files that `COPY . .` copies: those of the checkout that .dockerignore does not ignore. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { mustRun } from "../tools/run.ts";
import { type Ignore, parseDockerignore } from "./dockerignore.ts";

export const readDockerignore = (): Ignore =>
  parseDockerignore(readFileSync(join(root, ".dockerignore"), "utf8"));

/** Skips the very many files that git ignores; .dockerignore ignores them, too. */
export async function contextFiles(): Promise<readonly string[]> {
  const isIgnored = readDockerignore();
  const all = ["--cached", "--others", "--exclude-standard", "-z"];
  const listed = await mustRun("git", ["ls-files", ...all], { cwd: root });
  return listed
    .split("\0")
    .filter((path) => path !== "" && !isIgnored(path) && existsSync(join(root, path)));
}
