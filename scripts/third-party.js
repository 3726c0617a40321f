// Generates the page of the packages that ship with Posthaste, from the dependencies of the shipped parts, with
// versions and licences. The page is made from the installed packages, so that a change of the lockfile shows
// packages that come in below another.
import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = dirname(import.meta.dirname);
/** The packed packages, and the processes of the image. */
const handedOut = [
  "apps/cli",
  "apps/console",
  "apps/reference",
  "libs/client",
  "services/*/process",
];
/** pnpm-workspace.yaml leaves it out: the package only reports installs. */
const leftOut = "@scarf/scarf";
/** Builds the console and is not part of it. */
const builder = "vite";
/** Licences that ask only for their own text beside the package. Another licence is a decision. */
const allowed = new Set([
  ...["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Unlicense"],
  "(MIT OR CC0-1.0)",
]);

export function renderThirdParty() {
  const rows = thirdParty().map(
    ({ name, version, license }) => `| ${name} | ${version} | ${license} |`,
  );
  return `# Packages that come with Posthaste

The packages that the command, the console, the reference, the client and the services use, directly or through other packages, listed by \`npm run generate\` from the installed
packages. The full texts of the licences are in the packed command (\`THIRD-PARTY-LICENSES\`, \`console/licences.md\`, \`console/docs/licences.md\`). The list leaves out binaries for one platform, which are under the
licence of their package, and packages that only build the console.

| Package | Version | Licence |
| --- | --- | --- |
${rows.join("\n")}
`;
}

/** Returns a line for each package under a licence that is not allowed. */
export function readLicences() {
  return thirdParty()
    .filter(({ license }) => !allowed.has(license))
    .map(
      ({ name, version, license }) =>
        `${name} ${version} is under ${license}, which is not allowed`,
    );
}

/** Returns the packages that come with Posthaste, each with its name, version and licence. */
export function thirdParty() {
  const found = new Map();
  const visited = new Set();
  const visit = (folder) => {
    if (visited.has(folder)) return;
    visited.add(folder);
    const described = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { name, version, license, os, cpu } = described;
    // A binary differs by platform, so it is left out.
    if (os || cpu) return;
    if (relative(root, folder).includes("node_modules"))
      found.set(`${name} ${version}`, { name, version, license });
    for (const [each, isNeeded] of dependenciesOf(described)) {
      const at = folderOf(each, folder);
      if (at !== undefined) visit(at);
      else if (isNeeded) throw new Error(`${name}: ${each} is not installed`);
    }
  };
  for (const folder of globSync(handedOut, { cwd: root })) visit(join(root, folder));
  return [...found.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}
const keyOf = ({ name, version }) => `${name} ${version}`;

/** Returns the names of the dependencies, and whether each is required. */
function dependenciesOf(described) {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = described;
  const isNeeded = (name) => name in dependencies && !(name in optionalDependencies);
  const isOptionalPeer = (name) => described.peerDependenciesMeta?.[name]?.optional === true;
  return Object.keys({ ...peerDependencies, ...dependencies, ...optionalDependencies })
    .filter((name) => name !== builder && name !== leftOut && !isOptionalPeer(name))
    .map((name) => [name, isNeeded(name)]);
}

/**
 * Resolves as Node does, but skips the packages that pnpm puts beside all others, where a package could find one that it did
 * not ask for.
 */
const besideAll = join(root, "node_modules/.pnpm");
function folderOf(name, from) {
  for (let at = from; at.startsWith(root); at = dirname(at)) {
    if (at === besideAll) continue;
    const folder = join(at, "node_modules", name);
    if (existsSync(folder)) return realpathSync(folder);
  }
  return undefined;
}
