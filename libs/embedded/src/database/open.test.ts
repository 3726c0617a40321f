import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { accept, limits, type Message } from "@posthaste/domain";
import { aMessage, anOwner, recordingLog } from "@posthaste/testing";
import { allShards, newDirectory, openIn } from "../opened.fixture.ts";
import { lockDirectory } from "./lock.ts";
import { migrate } from "./migrate.ts";
import { openDatabase, refuseOldSqlite } from "./open.ts";

const fileIn = (dataDir: string): string => join(dataDir, "posthaste.db");

describe("the lock of a data directory", () => {
  it("refuses a second start with one clear line, and lets go when the first has closed", async () => {
    const dataDir = newDirectory();
    const first = openIn(dataDir);

    expect(() => openIn(dataDir)).toThrow(
      `the data directory ${dataDir} is in use by another process`,
    );
    await first.close();

    expect(() => openIn(dataDir)).not.toThrow();
  });

  it("is another process's while that lives, and nobody's when it was killed", async () => {
    const dataDir = newDirectory();
    const script = `
      import { lockDirectory } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
      lockDirectory(${JSON.stringify(dataDir)});
      process.stdout.write("locked");
      setInterval(() => undefined, 1_000);`;
    const holder = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(holder.stdout, "data");

    expect(() => lockDirectory(dataDir)).toThrow("is in use by another process");
    holder.kill("SIGKILL");
    await once(holder, "exit");

    expect(() => lockDirectory(dataDir)()).not.toThrow();
  });
});

describe("a file that cannot be served", () => {
  it("is refused when a newer Posthaste has written it", () => {
    const dataDir = newDirectory();
    openDatabase(dataDir).close();
    const db = new DatabaseSync(fileIn(dataDir));
    db.exec("PRAGMA user_version = 1000");
    db.close();

    expect(() => openDatabase(dataDir)).toThrow("it was written by a newer Posthaste");
  });

  it("is refused when it is somebody else's database", () => {
    const dataDir = newDirectory();
    const db = new DatabaseSync(fileIn(dataDir));
    db.exec("CREATE TABLE recipes (name TEXT)");
    db.close();

    expect(() => openDatabase(dataDir)).toThrow("was not made by Posthaste");
  });

  it("is refused when it is no database at all", () => {
    const dataDir = newDirectory();
    writeFileSync(fileIn(dataDir), "my notes, which are longer than a hundred bytes ".repeat(200));

    expect(() => openDatabase(dataDir)).toThrow(
      "is damaged and was not opened; restore it from a backup",
    );
    expect(readFileSync(fileIn(dataDir), "utf8")).toContain("my notes");
  });

  it("is refused when a page of it is damaged, and the lock is let go", async () => {
    const dataDir = newDirectory();
    const store = openIn(dataDir);
    const records = Array.from({ length: 200 }, () => ({
      record: accept(aMessage(), store.clock.now()),
    }));
    await store.messages.insert(records);
    await store.close();
    damage(dataDir, "messages");

    expect(() => openDatabase(dataDir)).toThrow("is damaged and was not opened");
    expect(() => lockDirectory(dataDir)()).not.toThrow();
  });

  it("is under suspicion until it was checked as a whole, after it was found damaged at work", () => {
    const dataDir = newDirectory();
    const database = openDatabase(dataDir);
    database.suspect();
    database.close();
    const suspicion = join(dataDir, "suspect");
    expect(existsSync(suspicion)).toBe(true);

    openDatabase(dataDir).close();

    expect(existsSync(suspicion)).toBe(false);
  });

  it("is refused to a SQLite that may lose commits", () => {
    expect(() => refuseOldSqlite("3.51.2")).toThrow("SQLite 3.51.2 is too old: 3.51.3 is needed");
    expect(() => refuseOldSqlite("3.9.9")).toThrow("is too old");
    expect(() => refuseOldSqlite("3.51.3")).not.toThrow();
    expect(() => refuseOldSqlite("3.53.0")).not.toThrow();
    expect(() => refuseOldSqlite("4.0.0")).not.toThrow();
  });
});

describe("what is read back damaged", () => {
  const closedWith = async (hurt: Message, sound: Message) => {
    const store = openIn(newDirectory());
    await store.messages.insert(
      [hurt, sound].map((message) => ({ record: accept(message, store.clock.now()) })),
    );
    await store.close();
    return store;
  };

  it.each([
    ["the body", "pay 100 to Alice"],
    ["the configuration", "https://alice.example/hook"],
  ])("is not delivered, and stops nobody else: a flipped bit in %s", async (_, words) => {
    const hurt = aMessage({
      body: Buffer.from("pay 100 to Alice"),
      url: "https://alice.example/hook",
    });
    const sound = aMessage();
    const { dataDir, clock } = await closedWith(hurt, sound);
    flipBit(dataDir, words);
    const { messages } = openIn(dataDir, { clock });

    const claimed = await messages.claim([hurt.id, sound.id], anOwner);

    expect(claimed.map(({ message }) => message.id)).toEqual([sound.id]);
    await expect(messages.get(hurt.tenant, [hurt.id])).rejects.toThrow("is damaged");
  });

  it("rings every ten minutes and says so in the log, while the others ring as ever", async () => {
    const [hurt, sound] = [aMessage({ url: "https://alice.example/hook" }), aMessage()];
    const { dataDir, clock } = await closedWith(hurt, sound);
    flipBit(dataDir, "https://alice.example/hook");
    const log = recordingLog();
    const { messages } = openIn(dataDir, { clock, log });
    await clock.advance(limits.ringAheadMs);

    const { hints } = await messages.ring(allShards, 10);

    expect(hints.map(({ id }) => id)).toEqual([sound.id]);
    expect(log.events()).toEqual(["store.damaged"]);
    expect(await messages.ring(allShards, 10)).toMatchObject({ hints: [] });
    expect(log.events()).toEqual(["store.damaged"]);
  });
});

describe("migrations", () => {
  const first = "CREATE TABLE notes (text TEXT)";
  const second = "ALTER TABLE notes ADD COLUMN read INTEGER NOT NULL DEFAULT 0";
  const open = (): DatabaseSync => new DatabaseSync(join(newDirectory(), "notes.db"));
  const versionOf = (db: DatabaseSync) => db.prepare("PRAGMA user_version").get()?.["user_version"];

  it("bring an older file up to date and keep what is in it", () => {
    const db = open();
    migrate(db, [first]);
    db.exec("INSERT INTO notes VALUES ('kept')");

    migrate(db, [first, second]);

    expect(
      db
        .prepare("SELECT text, read FROM notes")
        .all()
        .map((row) => ({ ...row })),
    ).toEqual([{ text: "kept", read: 0 }]);
    expect(versionOf(db)).toBe(2);
    db.close();
  });

  it("leave the file as it was when one fails half-way", () => {
    const db = open();
    migrate(db, [first]);

    expect(() => migrate(db, [first, `${second}; INSERT INTO nowhere VALUES (1)`])).toThrow(
      "nowhere",
    );

    expect(versionOf(db)).toBe(1);
    expect(db.prepare("SELECT * FROM notes").columns()).toHaveLength(1);
    db.close();
  });

  it("run once each", () => {
    const db = open();

    migrate(db, [first, second]);

    expect(() => migrate(db, [first, second])).not.toThrow();
    db.close();
  });
});

/** Overwrites the root page of a table with noise. */
function damage(dataDir: string, table: string): void {
  const db = new DatabaseSync(fileIn(dataDir));
  const root = Number(
    db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.["rootpage"],
  );
  const pageBytes = Number(db.prepare("PRAGMA page_size").get()?.["page_size"]);
  db.close();
  const file = openSync(fileIn(dataDir), "r+");
  writeSync(file, Buffer.alloc(64, 0xa5), 0, 64, (root - 1) * pageBytes);
  closeSync(file);
}

function flipBit(dataDir: string, words: string): void {
  const bytes = readFileSync(fileIn(dataDir));
  const at = bytes.indexOf(words);
  if (at < 0) throw new Error(`${words} is not in the file`);
  bytes[at + 4] = (bytes[at + 4] ?? 0) ^ 1;
  writeFileSync(fileIn(dataDir), bytes);
}
