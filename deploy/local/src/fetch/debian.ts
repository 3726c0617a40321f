/** Unpacks Debian's packages without installing them: apt verifies, dpkg-deb unpacks, and no service starts. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needTools, run, runWithPatience } from "../process/run.ts";

const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };

export function unpackDebianPackage(name: string, folder: string): Promise<void> {
  return unpack(() => lackingFor(name), folder);
}

/** Unpacks `name` without its dependencies, for a program in it that needs none. */
export function unpackDebianPackageAlone(name: string, folder: string): Promise<void> {
  return unpack(async () => [name], folder);
}

async function unpack(packages: () => Promise<readonly string[]>, folder: string): Promise<void> {
  needTools("apt-get", "dpkg-deb");
  const downloads = mkdtempSync(join(tmpdir(), "posthaste-debian-"));
  try {
    const args = ["-q", "download", ...(await packages())];
    await withLists(() => runWithPatience("apt-get", args, { cwd: downloads, env }));
    await unpackDebianFiles(downloads, folder);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

async function unpackDebianFiles(downloads: string, folder: string): Promise<void> {
  const files = readdirSync(downloads).filter((name) => name.endsWith(".deb"));
  for (const file of files) await run("dpkg-deb", ["-x", join(downloads, file), folder]);
}

/** Returns an unpacked package's library folders: `usr/lib/x86_64-linux-gnu` on most hosts. */
export function libraryFolders(folder: string): string[] {
  const libraries = join(folder, "usr/lib");
  if (!existsSync(libraries)) return [];
  return readdirSync(libraries)
    .filter((name) => /-linux-gnu\w*$/.test(name))
    .map((name) => join(libraries, name));
}

async function lackingFor(name: string): Promise<string[]> {
  const args = ["install", "--simulate", "--no-install-recommends", name];
  const packages = packagesOf(await withLists(() => run("apt-get", args, { env })));
  return packages.length > 0 ? packages : [name];
}

/** Asks again after an update if the first try fails: a new image has no package lists. */
async function withLists<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  return ask().catch(async () => {
    await runWithPatience("apt-get", ["-q", "update"], { env });
    return ask();
  });
}

/** Returns the packages that `apt-get install --simulate` would install. */
export function packagesOf(simulation: string): string[] {
  return [...simulation.matchAll(/^Inst (\S+)/gm)].flatMap(([, name]) => name ?? []);
}
