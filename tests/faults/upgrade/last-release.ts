/**
 * The last release as its users have it: packed anew at its tag, then unpacked and installed. Kept in
 * `.cache/last-release`.
 *
 * `POSTHASTE_LAST_RELEASE` names another commit to use. Before the first tag it is the first commit that could be
 * packed.
 */
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export type LastRelease = {
  /** The tag, or the commit. */
  readonly name: string;
  /** The tree of the image, with its packages. */
  readonly image: string;
  /** The program of the package `posthaste`. */
  readonly program: string;
};

const runFile = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const packs = "scripts/release/main.js";

export async function lastRelease(): Promise<LastRelease> {
  const name =
    process.env["POSTHASTE_LAST_RELEASE"] ?? (await newestTag()) ?? (await firstPacked());
  const commit = await git("rev-parse", "--verify", `${name}^{commit}`);
  const folder = join(root, ".cache/last-release", commit);
  const whole = join(folder, "whole");
  const image = join(folder, "image");
  const installed = join(folder, "command");
  if (!existsSync(whole)) {
    rmSync(folder, { recursive: true, force: true });
    await install({ commit, folder, image, installed });
    writeFileSync(whole, "");
  }
  return { name, image, program: join(installed, "node_modules/posthaste/posthaste.js") };
}

/** Returns the newest tag of a version before this commit. */
async function newestTag(): Promise<string | undefined> {
  const own = (await git("tag", "--list", "v*", "--points-at", "HEAD")).split("\n");
  const all = await git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname");
  return all.split("\n").find((tag) => tag !== "" && !own.includes(tag));
}

async function firstPacked(): Promise<string> {
  const first = await git("log", "--diff-filter=A", "--format=%h", "--", packs);
  if (first === "") throw new Error("this clone lacks the history: git fetch --unshallow --tags");
  return first;
}

async function install({
  commit,
  folder,
  image,
  installed,
}: {
  readonly commit: string;
  readonly folder: string;
  readonly image: string;
  readonly installed: string;
}): Promise<void> {
  const tree = join(folder, "tree");
  const files = join(folder, "files");
  for (const each of [folder, image, installed]) mkdirSync(each, { recursive: true });
  await git("clone", "--quiet", "--no-checkout", root, tree);
  await run("git", ["checkout", "--quiet", commit], tree);
  const { version } = JSON.parse(await git("show", `${commit}:package.json`)) as {
    readonly version: string;
  };
  const release = ["node", packs, version, "--rehearsal", "--out", files];
  await run("npm", ["run", "--silent", "dev", "--", ...release], tree);
  const [command = "", context = ""] = [
    ...globSync("posthaste-[0-9]*.tgz", { cwd: files }),
    ...globSync("posthaste-image-*.tar.gz", { cwd: files }),
  ].map((name) => join(files, name));
  writeFileSync(join(installed, "package.json"), "{}");
  await run("npm", ["install", "--offline", "--no-save", "--ignore-scripts", command], installed);
  await run("tar", ["--extract", "--gzip", "--file", context], image);
  // As deploy/Dockerfile does.
  const services = ["--filter", "{./services/*/process}..."];
  const pnpm = join(root, "scripts/pnpm");
  await run(pnpm, ["install", "--prod", "--frozen-lockfile", "--silent", ...services], image);
  rmSync(tree, { recursive: true });
}

async function git(...words: readonly string[]): Promise<string> {
  return (await runFile("git", [...words], { cwd: root })).stdout.trim();
}

async function run(program: string, words: readonly string[], cwd: string): Promise<void> {
  await runFile(program, [...words], { cwd, env: { ...process.env, CI: "true" } });
}
