// Checks that a dependency of several packages has its version in the catalog of pnpm-workspace.yaml, so that none is updated
// alone and two versions of one library never meet in a process.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const isForeign = (name) => name === "node_modules" || name === "toolchain";

/** Returns the dependencies with a version in more than one package.json, a line each. */
export function readVersions() {
  const files = globSync(["package.json", "*/**/package.json"], { cwd: root, exclude: isForeign });
  const users = new Map();
  for (const file of files) {
    const described = JSON.parse(readFileSync(join(root, file), "utf8"));
    for (const [name, version] of kinds.flatMap((kind) => Object.entries(described[kind] ?? {}))) {
      if (version.startsWith("workspace:") || version.startsWith("catalog:")) continue;
      users.set(name, [...(users.get(name) ?? []), `${file} (${version})`]);
    }
  }
  return [...users]
    .filter(([, its]) => its.length > 1)
    .map(
      ([name, its]) => `${name} belongs in the catalog of pnpm-workspace.yaml: ${its.join(", ")}`,
    );
}
