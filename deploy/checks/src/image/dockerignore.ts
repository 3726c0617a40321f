/** Reads .dockerignore. */

/** Reports whether a path is ignored. The last line that matches the path or a folder above it decides. */
export type Ignore = (path: string) => boolean;

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
