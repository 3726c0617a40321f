// Builds the console, and below docs/ the API reference, if they do not match the sources.
//
//   node scripts/build-console.js [FOLDER]     by default apps/console/dist
//
// Owns  FOLDER          the files that a server serves below /console/, complete or unchanged: made beside their place
//                       and renamed
//       FOLDER/.made    a hash of everything that decides the result of a build
//
// A failure is reported in one line.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { hashReference, writeReference } from "./reference.js";

const root = dirname(import.meta.dirname);
const app = join(root, "apps/console");
const target = resolve(process.argv[2] ?? join(app, "dist"));
const making = `${target}.${process.pid}`;
const stamp = ".made";
const sources = ["*.html", "vite.config.js", "package.json", "src/**/*.{ts,tsx,css,svg}"];
/** The table of operations, which the console imports. */
const api = join(root, "libs/client/src/api.ts");

const hash = hashOf();
if (!isMade()) {
  try {
    build();
    putInPlace();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

function isMade() {
  const file = join(target, stamp);
  return existsSync(file) && readFileSync(file, "utf8") === hash;
}

function hashOf() {
  const files = globSync(sources, { cwd: app }).filter((file) => !file.includes(".test."));
  const sum = createHash("sha256").update(process.version).update(readFileSync(api));
  for (const file of files.sort()) sum.update(file).update(readFileSync(join(app, file)));
  hashReference(sum);
  return sum.digest("hex");
}

function build() {
  const vite = join(app, "node_modules/vite/bin/vite.js");
  const to = ["--outDir", making, "--emptyOutDir", "--logLevel", "error"];
  const { error, status, stderr } = spawnSync(process.execPath, [vite, "build", app, ...to], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    // Under another value, as tests set it, React comes with its development aids.
    env: { ...process.env, NODE_ENV: "production" },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(reasonIn(stderr));
  writeReference(join(making, "docs"));
  writeFileSync(join(making, stamp), hash);
}

/** Returns the first meaningful line of Vite's output. */
function reasonIn(text) {
  const lines = stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.trim());
  const isHeading = (line) => /^(✗|error during build|Build failed)/i.test(line);
  return lines.find((line) => line !== "" && !isHeading(line)) ?? "vite failed";
}

/** Puts the build in place. If another process does the same, its build, of the same sources, stays. */
function putInPlace() {
  mkdirSync(dirname(target), { recursive: true });
  const before = `${making}.before`;
  try {
    if (existsSync(target)) renameSync(target, before);
    renameSync(making, target);
  } catch (error) {
    if (!isMade()) throw error;
  } finally {
    rmSync(before, { recursive: true, force: true });
  }
}
