import { afterEach, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recordingLog } from "@posthaste/testing";
import { newDirectory } from "../opened.fixture.ts";
import { type Checkpoints, openCheckpoints } from "./write-ahead-log.ts";
import { openDatabase } from "./open.ts";
import { readersIn } from "./log-readers.ts";

/** Bounds in frames; a commit here has about nine. */
const bounds = { waitingMax: 100, lengthMax: 300, reportedMin: 900 };

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open() {
  const dataDir = newDirectory();
  const path = join(dataDir, "posthaste.db");
  const database = openDatabase(dataDir, { makeRoom: () => false });
  const { db } = database;
  db.exec("CREATE TABLE filler (body BLOB) STRICT");
  const log = recordingLog();
  const checkpoints = openCheckpoints(db, path, log, bounds);
  closing.push(
    () => database.close(),
    () => checkpoints.close(),
  );
  await checkpoints.bringIn();
  return { checkpoints, db, log, path };
}

const insert = "INSERT INTO filler VALUES (zeroblob(65536))";

async function commit(db: DatabaseSync, checkpoints: Checkpoints, count: number): Promise<number> {
  let held = 0;
  for (let i = 0; i < count; i++) {
    db.exec(insert);
    const before = checkpoints.afterCommit();
    if (before) held++;
    await before;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return held;
}

async function commitUntil(
  db: DatabaseSync,
  checkpoints: Checkpoints,
  isSo: () => boolean,
): Promise<void> {
  while (!isSo()) {
    await commit(db, checkpoints, 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function stateOf(db: DatabaseSync): { readonly length: number; readonly waiting: number } {
  const { checkpointed, log } = db.prepare("PRAGMA wal_checkpoint(NOOP)").get() ?? {};
  return { length: Number(log), waiting: Number(log) - Number(checkpointed) };
}

const framesOf = (path: string): number => Math.floor(statSync(`${path}-wal`).size / 8_192);

describe("a log that no reader holds", () => {
  it("begins anew, and is no longer than a commit or two above its bound", async () => {
    const { checkpoints, db, log, path } = await open();

    await commit(db, checkpoints, 300);

    expect(framesOf(path)).toBeLessThan(2 * bounds.lengthMax);
    expect(log.lines.filter(({ event }) => event === "store.log_held")).toEqual([]);
  });
});

describe("a log that a reader holds", () => {
  it("grows, hardly holds the writer, and begins anew when the reader has ended", async () => {
    const { checkpoints, db, path } = await open();
    const reader = new DatabaseSync(path, { readOnly: true });
    closing.push(() => void (reader.isOpen && reader.close()));
    reader.exec("BEGIN; SELECT count(*) FROM filler");

    const held = await commit(db, checkpoints, 300);

    expect(framesOf(path)).toBeGreaterThan(2_500);
    expect(held).toBeLessThan(10);
    reader.close();
    await commitUntil(db, checkpoints, () => stateOf(db).length < bounds.lengthMax);
  });

  it("does not hold the writer while much is brought in, however much the reader has left behind", async () => {
    const { checkpoints, db, path } = await open();
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN; SELECT count(*) FROM filler");
    await commit(db, checkpoints, 300);
    reader.close();

    let waitingAtHold: number | undefined;
    while (waitingAtHold === undefined) {
      const { waiting } = stateOf(db);
      if ((await commit(db, checkpoints, 1)) > 0) waitingAtHold = waiting;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }

    expect(waitingAtHold).toBeLessThan(bounds.reportedMin);
  });

  it("is logged with the process that reads it, each time that it is twice as long, and when it has ended", async () => {
    const { checkpoints, db, log, path } = await open();
    const code = `const db = new (require("node:sqlite").DatabaseSync)(process.argv[1], { readOnly: true });
      db.exec("BEGIN; SELECT count(*) FROM filler");
      console.log("reads"); setInterval(() => undefined, 1e6);`;
    db.exec(insert);
    const other = spawn(process.execPath, ["--no-warnings", "--eval", code, path]);
    closing.push(() => void other.kill("SIGKILL"));
    await once(other.stdout, "data");

    await commit(db, checkpoints, 300);
    other.kill("SIGKILL");
    await once(other, "exit");
    await commitUntil(db, checkpoints, () => log.events().includes("store.log_released"));

    const told = log.lines.filter(({ event }) => event.startsWith("store.log_"));
    const held = told.filter(({ event }) => event === "store.log_held");
    expect(told.at(-1)?.event).toBe("store.log_released");
    expect(held.length).toBeGreaterThanOrEqual(2);
    expect(held.length).toBeLessThanOrEqual(4);
    if (process.platform === "linux") expect(held[0]?.fields).toMatchObject({ pids: [other.pid] });
  });
});

describe("readers of a log", () => {
  it("are the processes with a lock on a read mark, and no others", () => {
    const locks = `1: POSIX  ADVISORY  READ 10 fe:01:7 124 124
2: POSIX  ADVISORY  READ 11 fe:01:7 123 123
3: POSIX  ADVISORY  READ 12 fe:01:8 124 124
4: POSIX  ADVISORY  READ 0 fe:01:7 125 125
5: POSIX  ADVISORY  READ 13 fe:01:7 127 127
5: POSIX  ADVISORY  READ 13 fe:01:7 128 128
6: FLOCK  ADVISORY  WRITE 14 fe:01:7 0 EOF
`;

    expect(readersIn(locks, 7)).toEqual([10, 13]);
  });
});
