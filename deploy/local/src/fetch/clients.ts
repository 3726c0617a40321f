/** Installs or builds clients and peers for tests and benchmarks in the cache, in exactly the versions that the caller names. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { onPath, run, runWithPatience } from "../process/run.ts";

export const hasPython = (): boolean => onPath("python3") !== undefined;

/** Returns a Python with the packages of `<folder>/requirements.txt`. */
export async function pythonWith(folder: string): Promise<string> {
  const made = await cached(
    `python-client-${digestOf(folder, /^requirements\.txt$/)}`,
    async (making) => {
      await run("python3", ["-m", "venv", making]);
      const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await runWithPatience(join(making, "bin/python"), [
        ...install,
        "-r",
        join(folder, "requirements.txt"),
      ]);
    },
  );
  return join(made, "bin/python");
}

export const hasGo = (): boolean => onPath("go") !== undefined;

export async function goProgram(folder: string): Promise<string> {
  const made = await cached(`go-client-${digestOf(folder, /\.(go|mod|sum)$/)}`, async (making) => {
    await runWithPatience("go", ["build", "-o", join(making, "client"), "."], { cwd: folder });
  });
  return join(made, "client");
}

/** Returns a folder with these npm packages, such as `name@1.2.3`, whose scripts are not run. */
export const npmPackages = (key: string, wanted: readonly string[]): Promise<string> =>
  cached(key, (making) => installNpmPackages(making, wanted));

export async function installNpmPackages(folder: string, wanted: readonly string[]): Promise<void> {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  await runWithPatience("npm", ["install", "--prefix", folder, ...quiet, ...wanted]);
}

function digestOf(folder: string, wanted: RegExp): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder)
    .filter((each) => wanted.test(each))
    .toSorted())
    hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 12);
}
