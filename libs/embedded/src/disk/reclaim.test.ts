import { afterEach, describe, expect, it } from "@jest/globals";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { accept, allShards, limits, settleAttempt } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  aTenant,
  recordingLog,
  seededRandom,
} from "@posthaste/testing";
import { type Embedded, openEmbedded } from "../index.ts";
import { newDirectory } from "../opened.fixture.ts";

const mebibyte = 1024 * 1024;
/** The last 64 MiB of the disk are reserved for accepted messages. */
const diskBytes = 144 * mebibyte;
const withinMs = 10_000;
const patienceMs = 60_000;

/** The disk frees space in its own time, so the clock is real. */
const realClock: Clock = {
  now: () => Date.now(),
  passedMs: () => performance.now(),
  setAheadMs: () => 0,
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
const pause = (ms: number) => new Promise<void>((resolve) => void realClock.after(ms, resolve));

const fileBytes = (dataDir: string): number =>
  readdirSync(dataDir).reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0);

const opened: Embedded[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

/** Opens a store on a disk of `totalBytes` that only the store's own files fill. */
function openOn(dataDir: string, totalBytes: number): Embedded {
  const store = openEmbedded({
    dataDir,
    clock: realClock,
    random: seededRandom(1),
    log: recordingLog(),
    reserveBytes: 0,
    space: () => ({ totalBytes, freeBytes: totalBytes - fileBytes(dataDir) }),
  });
  opened.push(store);
  return store;
}

const isAccepted = (store: Embedded, body: Uint8Array): Promise<boolean> =>
  store.records
    .insert([{ record: accept(aMessage({ body }), realClock.now()) }], "new")
    .then(() => true)
    .catch(() => false);

async function insert(store: Embedded, count: number): Promise<boolean> {
  const body = Buffer.alloc(mebibyte, 1);
  for (let i = 0; i < count; i++) if (!(await isAccepted(store, body))) return false;
  return true;
}

async function deliverAll({ records }: Embedded): Promise<void> {
  for (;;) {
    const hints = await records.pull(aTenant, 20, []);
    if (hints.length === 0) return;
    const ids = hints.map(({ id }) => id);
    const attempted = anAttempt(anAnswer(200), { endedAt: realClock.now() });
    const claimed = await records.claim(ids, anOwner);
    await records.settle(
      claimed.map((record) => settleAttempt(record, attempted, { chance: 0, retryDelayMs: 1_000 })),
    );
  }
}

async function until(holds: () => Promise<boolean> | boolean, msMax: number): Promise<boolean> {
  const end = realClock.now() + msMax;
  while (realClock.now() < end) {
    if (await holds()) return true;
    await pause(50);
  }
  return false;
}

describe("a disk that was nearly full", () => {
  it("has space again within ten seconds of the last delivery, by itself", async () => {
    const store = openOn(newDirectory(), diskBytes);
    // Free space is checked once a second, and filled faster than that.
    while (await insert(store, 16)) await pause(1_001);
    await deliverAll(store);

    const hasRoom = await until(() => isAccepted(store, Buffer.alloc(10)), withinMs);

    expect(hasRoom).toBe(true);
  });
});

describe("a disk that kept bodies fill", () => {
  it("has space again within ten seconds: the kept bodies are removed", async () => {
    const store = openOn(newDirectory(), diskBytes);
    const first = aMessage();
    await store.records.insert([{ record: accept(first, realClock.now()) }], "new");
    const isKept = async () => (await store.keptBodies.get(aTenant, first.id)) !== undefined;
    // Free space is checked once a second.
    while (await insert(store, 16)) {
      await deliverAll(store);
      await store.records.removeFinished(allShards, realClock.now() + 1, limits.sweepBatchMax);
      expect(await isKept()).toBe(true);
      await pause(1_001);
    }

    const isGone = await until(async () => !(await isKept()), withinMs);
    const hasRoom = await until(() => isAccepted(store, Buffer.alloc(10)), withinMs);

    expect({ isGone, hasRoom }).toEqual({ isGone: true, hasRoom: true });
  });
});

describe("a disk that a reader of the log keeps full", () => {
  it("takes no new work, continues with accepted work, and has space within ten seconds of the reader's end", async () => {
    const dataDir = newDirectory();
    const store = openOn(dataDir, diskBytes);
    await insert(store, 1);
    const reader = new DatabaseSync(join(dataDir, "posthaste.db"), { readOnly: true });
    reader.exec("BEGIN; SELECT count(*) FROM messages");
    while (await insert(store, 16)) await pause(1_001);
    await deliverAll(store);
    await store.records.removeFinished(allShards, realClock.now() + 1, limits.sweepBatchMax);
    await pause(2_000);

    const hadRoom = await isAccepted(store, Buffer.alloc(10));
    reader.close();

    expect(hadRoom).toBe(false);
    expect(await until(() => isAccepted(store, Buffer.alloc(10)), withinMs)).toBe(true);
  });
});

describe("a file most of which is free", () => {
  it("shrinks, in steps between which others have their turns", async () => {
    const dataDir = newDirectory();
    const store = openOn(dataDir, 100 * diskBytes);
    await insert(store, 48);
    await deliverAll(store);
    const before = fileBytes(dataDir);
    const commits = store.commits();

    const [end, keeps] = [realClock.now() + 1, () => false];
    await store.records.removeFinished(allShards, end, limits.sweepBatchMax, keeps);

    expect(await until(() => fileBytes(dataDir) < before / 10, patienceMs)).toBe(true);
    expect(store.commits() - commits).toBeGreaterThan(5);
  });
});
