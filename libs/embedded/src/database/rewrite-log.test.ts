import { describe, expect, it } from "@jest/globals";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { accept } from "@posthaste/domain";
import { aMessage } from "@posthaste/testing";
import { countRows, newDirectory, openIn } from "../opened.fixture.ts";
import { openDatabase } from "./open.ts";
import { rewriteLog } from "./rewrite-log.ts";

/**
 * Returns a directory as a process leaves it that is killed with commits in its log: the files as they stand beside the running store.
 */
async function leftByKilled(): Promise<string> {
  const store = openIn(newDirectory());
  await store.records.insert([{ record: accept(aMessage(), store.clock.now()) }], "new");
  const dataDir = newDirectory();
  for (const name of ["posthaste.db", "posthaste.db-wal"])
    copyFileSync(join(store.dataDir, name), join(dataDir, name));
  return dataDir;
}

const logBytes = (dataDir: string): number => statSync(join(dataDir, "posthaste.db-wal")).size;

describe("the log that an earlier process has left", () => {
  it("is in the database, synced, before anything new is written behind it", async () => {
    const dataDir = await leftByKilled();
    expect(logBytes(dataDir)).toBeGreaterThan(0);

    const database = openDatabase(dataDir, { makeRoom: () => false });

    expect(logBytes(dataDir)).toBe(0);
    expect(countRows(dataDir, "messages")).toBe(1);
    database.close();
  });

  it("that another program holds on to is refused in one clear line", async () => {
    const dataDir = await leftByKilled();
    const other = new DatabaseSync(join(dataDir, "posthaste.db"));
    other.exec("BEGIN; SELECT count(*) FROM messages");

    expect(() => openDatabase(dataDir, { makeRoom: () => false })).toThrow(
      "cannot be brought up to date: another program reads it",
    );
    other.close();
  });

  it("is overwritten in place when the disk has no space for it, after space was looked for", () => {
    const path = join(newDirectory(), "posthaste.db");
    const words = Buffer.alloc(1024 * 1024 + 7, "as it was");
    writeFileSync(`${path}-wal`, words);
    const before = statSync(`${path}-wal`, { bigint: true }).mtimeNs;
    let asked = 0;
    const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const db = {
      prepare: () => {
        throw full;
      },
    };

    rewriteLog(db, path, () => asked++ === 0);

    expect(asked).toBe(1);
    expect(readFileSync(`${path}-wal`).equals(words)).toBe(true);
    expect(statSync(`${path}-wal`, { bigint: true }).mtimeNs).not.toBe(before);
  });
});
