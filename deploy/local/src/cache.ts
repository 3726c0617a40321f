/**
 * Caches what the stack fetches, outside the checkout, for every checkout of this host.
 *
 * Owns  <cache>/<key>         one fetched thing; the key names its version
 *       <cache>/<key>.lock    held while the thing is made; holds the pid of its owner
 *       <cache>/<key>.<pid>   a thing in the making
 * (1) A thing is complete or absent: it is made beside its place and renamed. Two processes that break one abandoned lock at
 *     once cost a second fetch and never break an entry.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const lockWaitMsMax = 30 * 60_000;
const lockPollMs = 250;

/** Fills an empty folder, or throws. */
export type Make = (folder: string) => Promise<void>;

function cacheFolder(): string {
  const asked = process.env["POSTHASTE_CACHE"];
  if (asked !== undefined && asked !== "") return asked;
  return process.getuid?.() === 0 ? "/var/cache/posthaste" : join(homedir(), ".cache/posthaste");
}

/** Returns the folder of `key`, and makes it first if it is absent. A process that calls this meanwhile waits for the maker. */
export async function cached(key: string, make: Make, cache = cacheFolder()): Promise<string> {
  const folder = join(cache, key);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  await withLock(`${folder}.lock`, async () => {
    if (!existsSync(folder)) await makeBeside(folder, make);
  });
  return folder;
}

async function makeBeside(folder: string, make: Make): Promise<void> {
  const making = `${folder}.${process.pid}`;
  removeLeftovers(folder);
  process.stderr.write(`posthaste: fetching ${basename(folder)} into ${dirname(folder)}\n`);
  mkdirSync(making);
  try {
    await make(making);
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** Removes folders whose maker was killed. */
function removeLeftovers(folder: string): void {
  const isLeftover = new RegExp(`^${RegExp.escape(basename(folder))}[.]\\d+$`);
  for (const name of readdirSync(dirname(folder)).filter((entry) => isLeftover.test(entry)))
    rmSync(join(dirname(folder), name), { recursive: true, force: true });
}

async function withLock(lock: string, work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + lockWaitMsMax;
  while (!tryLock(lock)) {
    if (performance.now() > deadline) throw new Error(`${lock} is held for too long: remove it`);
    await sleep(lockPollMs);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  // The lock is taken by the next try only: another process may break the same dead lock in this moment.
  if (!ownerLives(lock)) rmSync(lock, { force: true });
  return false;
}

function ownerLives(lock: string): boolean {
  try {
    const owner = Number(readFileSync(lock, "utf8"));
    // An empty file is a lock whose owner has not written its pid yet.
    if (owner > 0) process.kill(owner, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM" || codeOf(error) === "ENOENT";
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
