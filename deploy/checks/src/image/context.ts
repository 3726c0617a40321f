/** What `COPY . .` copies: the files of the checkout that .dockerignore lets through. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { mustRun } from "../tools/run.ts";

/** The rule of .dockerignore: the last line that matches a path or a folder above it decides. */
export type Ignore = (path: string) => boolean;

export const readDockerignore = (): Ignore =>
  parseDockerignore(readFileSync(join(root, ".dockerignore"), "utf8"));

/** Without those that git ignores: .dockerignore does so as well, and there are very many. */
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

/** Matches the path itself and all below it. `*` takes names that begin with a dot, too. */
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
