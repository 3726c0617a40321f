// The files for `npm test -- changed`: those that differ from the commit where this branch left the main one, and those that
// are not committed yet.
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";

const root = dirname(import.meta.dirname);
const mainBranches = ["origin/main", "main"];

export function changedFiles() {
  const base = mainBranches.map((branch) => git("merge-base", "HEAD", branch)[0]).find(Boolean);
  const changed = git("diff", "--name-only", "--diff-filter=d", base ?? "HEAD");
  return [...changed, ...git("ls-files", "--others", "--exclude-standard")];
}

/** Returns git's lines, or none when git refuses. */
function git(...args) {
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("git", args, options).split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
