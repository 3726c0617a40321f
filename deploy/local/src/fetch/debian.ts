/** Debian's packages without installing them: apt verifies, dpkg-deb unpacks, no service of them ever starts. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onPath, run } from "../process/run.ts";

const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };

/** Unpacks `name` and whatever it needs that this host lacks. */
export async function unpackDebianPackage(name: string, folder: string): Promise<void> {
  for (const tool of ["apt-get", "dpkg-deb"]) {
    if (onPath(tool) === undefined) throw new Error(`this host has no ${tool}`);
  }
  const downloads = mkdtempSync(join(tmpdir(), "posthaste-debian-"));
  try {
    const packages = await lackingFor(name);
    await run("apt-get", ["-q", "download", ...packages], { cwd: downloads, env });
    for (const file of readdirSync(downloads))
      await run("dpkg-deb", ["-x", join(downloads, file), folder]);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

/** The folders of an unpacked package's libraries: `usr/lib/x86_64-linux-gnu` on most hosts. */
export function libraryFolders(folder: string): string[] {
  const libraries = join(folder, "usr/lib");
  if (!existsSync(libraries)) return [];
  return readdirSync(libraries)
    .filter((name) => /-linux-gnu\w*$/.test(name))
    .map((name) => join(libraries, name));
}

async function lackingFor(name: string): Promise<string[]> {
  const args = ["install", "--simulate", "--no-install-recommends", name];
  const simulate = () => run("apt-get", args, { env });
  const output = await simulate().catch(async () => {
    // A new image has no package lists.
    await run("apt-get", ["-q", "update"], { env });
    return simulate();
  });
  const packages = packagesOf(output);
  return packages.length > 0 ? packages : [name];
}

/** The packages that `apt-get install --simulate` says it would install. */
export function packagesOf(simulation: string): string[] {
  return [...simulation.matchAll(/^Inst (\S+)/gm)].flatMap(([, name]) => name ?? []);
}
