import { describe, expect, it } from "@jest/globals";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { aMessage } from "@posthaste/testing";
import { accept } from "@posthaste/domain";
import { newDirectory, openIn } from "../opened.fixture.ts";
import { copyDatabase, restoreDatabase } from "./copy.ts";
import { databaseFile } from "./schema.ts";

describe("a copy of a database", () => {
  it("is one moment of a store in use, for its owner only, and continues in another folder", async () => {
    const dataDir = newDirectory();
    const store = openIn(dataDir);
    const record = accept(aMessage(), store.clock.now());
    await store.records.insert([{ record }], "new");
    const copy = join(newDirectory(), "copy.db");

    const copied = copyDatabase(dataDir, copy);

    expect(copied).toMatchObject({ messages: 1, bytes: statSync(copy).size });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    await store.records.insert([{ record: accept(aMessage(), store.clock.now()) }], "new");
    const elsewhere = newDirectory();
    expect(restoreDatabase(copy, elsewhere)).toEqual(copied);
    const restored = openIn(elsewhere);
    const [found] = await restored.records.get(record.message.tenant, [record.message.id]);
    expect(found?.message.url).toBe(record.message.url);
    await store.close();
    await restored.close();
  });

  it("is made of a store that is stopped, too", async () => {
    const dataDir = newDirectory();
    await openIn(dataDir).close();

    expect(copyDatabase(dataDir, join(newDirectory(), "copy.db"))).toMatchObject({ messages: 0 });
  });

  it("replaces no file", async () => {
    const dataDir = newDirectory();
    await openIn(dataDir).close();
    const target = join(dataDir, "copy.db");
    writeFileSync(target, "another's");

    expect(() => copyDatabase(dataDir, target)).toThrow(`${target} is there already`);
    expect(readFileSync(target, "utf8")).toBe("another's");
  });

  it("of a damaged store fails, and is made anew once the store is mended", async () => {
    const dataDir = newDirectory();
    await openIn(dataDir).close();
    const whole = readFileSync(join(dataDir, databaseFile));
    writeFileSync(join(dataDir, databaseFile), whole.subarray(0, whole.length - 20_000));
    const target = join(newDirectory(), "copy.db");

    expect(() => copyDatabase(dataDir, target)).toThrow();
    expect(existsSync(target)).toBe(false);
    writeFileSync(join(dataDir, databaseFile), whole);
    expect(copyDatabase(dataDir, target)).toMatchObject({ messages: 0 });
  });

  it("that is damaged, foreign or newer is not restored", async () => {
    const dataDir = newDirectory();
    await openIn(dataDir).close();
    const copy = join(newDirectory(), "copy.db");
    copyDatabase(dataDir, copy);
    const spoil = (how: (path: string) => void): string => {
      const spoiled = join(newDirectory(), "spoiled.db");
      writeFileSync(spoiled, readFileSync(copy));
      how(spoiled);
      return spoiled;
    };
    const inDatabase = (text: string) => (path: string) => {
      const db = new DatabaseSync(path);
      db.exec(text);
      db.close();
    };

    for (const [how, told] of [
      [(path: string) => truncateSync(path, 20_000), "is damaged"],
      [(path: string) => writeFileSync(path, "no database, but long enough"), "is damaged"],
      [inDatabase("PRAGMA user_version = 9999"), "written by a newer Posthaste"],
      [inDatabase("PRAGMA application_id = 1"), "not made by Posthaste"],
    ] as const) {
      const elsewhere = newDirectory();
      expect(() => restoreDatabase(spoil(how), elsewhere)).toThrow(told);
      expect(existsSync(join(elsewhere, databaseFile))).toBe(false);
    }
  });

  it("is put into no folder that has a store, or is in use", async () => {
    const dataDir = newDirectory();
    const store = openIn(dataDir);
    const copy = join(newDirectory(), "copy.db");
    copyDatabase(dataDir, copy);

    expect(() => restoreDatabase(copy, dataDir)).toThrow("in use by another process");
    await store.close();
    expect(() => restoreDatabase(copy, dataDir)).toThrow("already has a posthaste.db");
    expect(readdirSync(dataDir)).not.toContain("posthaste.db.new");
  });
});
