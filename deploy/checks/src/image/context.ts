/** The files that `COPY . .` copies: those of the checkout that .dockerignore lets through. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { mustRun } from "../tools/run.ts";

/** Reports whether a path is ignored. The last line that matches the path or a folder above it decides. */
export type Ignore = (path: string) => boolean;

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

export function parseDockerignore(text: string): Ignore {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const rules = lines.map((line) => ({
    isException: line.startsWith("!"),
    pattern: patternOf(line.replace(/^!/, "")),
  }));
  return (path) => {
    const last = rules.findLast(({ pattern }) => pattern.test(path));
    return last !== undefined && !last.isException;
  };
}

/** Matches the path and everything below it. `*` matches names with a leading dot, too. */
function patternOf(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*|\?/g, (wildcard) => wildcards[wildcard] ?? wildcard);
  return new RegExp(`^${source}(/.*)?$`);
}

const wildcards: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};
