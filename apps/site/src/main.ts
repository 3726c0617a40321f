/**
 * `npm run site`: builds the site of the documentation, with this checkout as `next` and one version for each of the
 * newest minor versions that have a tag, and checks every link.
 *
 *   npm run site -- [--out DIR] [--base /posthaste/] [--only next] [--serve]
 *
 * Owns  apps/site/dist/site, or --out   the site, complete or as it was: it is made beside its place and renamed
 *       apps/site/dist/pages           the pages as VitePress reads them
 *       .cache/site                    the content of the tags
 *       apps/site/node_modules         the packages that build the site, which only this command installs
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { homepage } from "../../../scripts/homepage.ts";
import { deadLinksOf } from "./check.ts";
import { serve } from "./serve.ts";
import { writePages } from "./tree.ts";
import { next, rootPage, type Version, versionsOf } from "./versions.ts";

const app = dirname(import.meta.dirname);
const root = resolve(app, "../..");
/** Under the app, where pages find its packages. */
const dist = join(app, "dist");
/** A broken link is often on every page. */
const deadLinksShown = 50;

const { values: asked } = parseArgs({
  options: {
    out: { type: "string", default: join(dist, "site") },
    base: { type: "string", default: "/" },
    only: { type: "string" },
    serve: { type: "boolean", default: false },
  },
});

try {
  if (!/^\/(?:[\w.-]+\/)*$/.test(asked.base))
    throw new Error(`--base ${asked.base} does not begin and end with a slash`);
  await main(resolve(asked.out), asked.base);
} catch (error) {
  console.error(`site: ${Error.isError(error) ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function main(out: string, base: string): Promise<void> {
  const all = versionsOf(tags());
  const versions = all.filter(({ name }) => asked.only === undefined || name === asked.only);
  const [newest] = versions;
  if (newest === undefined)
    throw new Error(
      `no version is called ${asked.only}; there are ${all.map(({ name }) => name).join(", ")}`,
    );
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, "versions.json")))
    throw new Error(`--out ${out} has other things than a site`);
  install();
  const making = `${out}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  try {
    for (const version of versions) build(version, join(making, version.name), base);
    writeFileSync(join(making, "index.html"), rootPage(base, newest));
    copyFileSync(join(making, newest.name, "404.html"), join(making, "404.html"));
    writeFileSync(join(making, "versions.json"), JSON.stringify(versions.map(({ name }) => name)));
    // Otherwise GitHub Pages leaves out files that begin with an underscore.
    writeFileSync(join(making, ".nojekyll"), "");
    const dead = deadLinksOf(making, base);
    for (const line of dead.slice(0, deadLinksShown)) console.error(line);
    if (dead.length > 0) throw new Error(`${dead.length} links lead nowhere`);
    rmSync(out, { recursive: true, force: true });
    renameSync(making, out);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  console.log(`${versions.map(({ name }) => name).join(", ")} in ${out}`);
  if (asked.serve) console.log(`http://127.0.0.1:${await serve(out, base)}${base}`);
}

function build(version: Version, outDir: string, base: string): void {
  const tree = version === next ? root : unpack(version);
  const srcDir = join(dist, "pages", version.name);
  rmSync(srcDir, { recursive: true, force: true });
  const published = `${homepage}/blob/${version.ref}`;
  const leads = writePages({ root: tree, target: srcDir, published });
  const site = {
    ...leads,
    version: version.name,
    homepage,
    srcDir,
    outDir,
    base,
    cacheDir: join(dist, "cache"),
  };
  run(process.execPath, [join(app, "node_modules/vitepress/bin/vitepress.js"), "build", app], {
    cwd: app,
    env: { ...process.env, NODE_ENV: "production", POSTHASTE_SITE: JSON.stringify(site) },
  });
}

/** Returns the folder with the content of the tag. A tag does not change, so it is unpacked once. */
function unpack({ ref }: Version): string {
  const tree = join(root, ".cache/site", ref);
  if (existsSync(tree)) return tree;
  const making = `${tree}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  run("git", ["archive", "--output", join(making, "tree.tar"), ref], { cwd: root });
  run("tar", ["--extract", "--file", "tree.tar"], { cwd: making });
  renameSync(making, tree);
  return tree;
}

function tags(): readonly string[] {
  const { status, stdout } = spawnSync("git", ["tag", "--list", "v*"], {
    cwd: root,
    encoding: "utf8",
  });
  // Outside a checkout there are no tags.
  return status === 0 ? stdout.split("\n") : [];
}

/** Installs the packages that build the site, unless the lock file is that of the last install. */
function install(): void {
  const lock = readFileSync(join(app, "package-lock.json"), "utf8");
  const stamp = join(app, "node_modules/.installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.error("site: installing what builds it");
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", ["ci", ...options], { cwd: app });
  writeFileSync(stamp, lock);
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    encoding: "utf8",
  });
  if (status === 0) return;
  throw new Error(`${command} ${args[0]}: ${error?.message ?? `${stdout}\n${stderr}`.trim()}`);
}
