import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  accept,
  allShards,
  awaiting,
  isActive,
  limits,
  type Message,
  runId,
} from "@posthaste/domain";
import { headAlone } from "@posthaste/ports";
import {
  aMessage,
  anOwner,
  aRunStart,
  aTenant,
  byKind,
  ending,
  recordingLog,
} from "@posthaste/testing";
import { countRows, newDirectory, openIn } from "../opened.fixture.ts";
import { lockDirectory } from "./lock.ts";
import { migrate, type Schema } from "./migrate.ts";
import { openDatabase, refuseOldSqlite, openWithReserve } from "./open.ts";

const open = (dataDir: string) => openDatabase(dataDir, { makeRoom: () => false });
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

  it("is another process's while that lives, and free when it was killed", async () => {
    const dataDir = newDirectory();
    const script = `
      import { lockDirectory } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
      globalThis.release = lockDirectory(${JSON.stringify(dataDir)});
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
    open(dataDir).close();
    const db = new DatabaseSync(fileIn(dataDir));
    db.exec("PRAGMA user_version = 1000");
    db.close();

    expect(() => open(dataDir)).toThrow("it was written by a newer Posthaste");
  });

  it("is refused when it is another program's database", () => {
    const dataDir = newDirectory();
    const db = new DatabaseSync(fileIn(dataDir));
    db.exec("CREATE TABLE recipes (name TEXT)");
    db.close();

    expect(() => open(dataDir)).toThrow("was not made by Posthaste");
  });

  it("is refused when it is no database at all", () => {
    const dataDir = newDirectory();
    writeFileSync(fileIn(dataDir), "my notes, which are longer than a hundred bytes ".repeat(200));

    expect(() => open(dataDir)).toThrow("is damaged and was not opened; restore it from a backup");
    expect(readFileSync(fileIn(dataDir), "utf8")).toContain("my notes");
  });

  it("is refused when a page of it is damaged, and the lock is let go", async () => {
    const dataDir = newDirectory();
    const store = openIn(dataDir);
    const records = Array.from({ length: 200 }, () => ({
      record: accept(aMessage(), store.clock.now()),
    }));
    await store.records.insert(records, "new");
    await store.close();
    damage(dataDir, "messages");

    expect(() => open(dataDir)).toThrow("is damaged and was not opened");
    expect(() => lockDirectory(dataDir)()).not.toThrow();
  });

  it("is under suspicion until it was checked as a whole, after it was found damaged at work", () => {
    const dataDir = newDirectory();
    const database = open(dataDir);
    database.suspect();
    database.close();
    const suspicion = join(dataDir, "suspect");
    expect(existsSync(suspicion)).toBe(true);

    open(dataDir).close();

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

describe("a disk that is full to the last byte", () => {
  const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
  /** Opens with a disk that has no room until room was made `needed` times, which works `there` times. */
  const opened = (needed: number, there: number) => {
    let made = 0;
    const open = (): string => {
      if (made < needed) throw full;
      return "open";
    };
    return openWithReserve("data", open, () => made++ < there);
  };

  it("does not prevent a start, which uses the space of the reserve", () => {
    expect(opened(1, 1)).toBe("open");
  });

  it.each([
    ["there is no reserve", 1, 0],
    ["the reserve is not enough", 2, 1],
  ])("is refused in one clear line when %s", (_, needed, there) => {
    expect(() => opened(needed, there)).toThrow(
      "the disk of data is full: the store can be opened when it has room",
    );
  });
});

describe("the files of a store", () => {
  const modesIn = (dataDir: string) =>
    Object.fromEntries(
      readdirSync(dataDir).map((name) => [
        name,
        (statSync(join(dataDir, name)).mode & 0o777).toString(8),
      ]),
    );
  const all = ["lock", "posthaste.db", "posthaste.db-shm", "posthaste.db-wal"];
  const ownersOnly = Object.fromEntries(all.map((name) => [name, "600"]));

  it("are their owner's alone in a folder that was there already, whatever the mask", async () => {
    const dataDir = newDirectory();
    chmodSync(dataDir, 0o755);
    const mask = process.umask(0);
    try {
      const store = openIn(dataDir);
      await store.records.insert([{ record: accept(aMessage(), store.clock.now()) }], "new");

      expect(modesIn(dataDir)).toEqual(ownersOnly);
    } finally {
      process.umask(mask);
    }
  });

  it("become so when an earlier process has left them to all", async () => {
    const dataDir = newDirectory();
    for (const name of all) writeFileSync(join(dataDir, name), "", { mode: 0o666 });
    for (const name of all) chmodSync(join(dataDir, name), 0o666);

    openIn(dataDir);

    expect(modesIn(dataDir)).toEqual(ownersOnly);
  });

  it("lie in a folder that is its owner's alone when we make it", () => {
    const dataDir = join(newDirectory(), "of", "ours");

    openIn(dataDir);

    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });
});

describe("damaged rows", () => {
  const closedWith = async (hurt: Message, sound: Message) => {
    const store = openIn(newDirectory());
    await store.records.insert(
      [hurt, sound].map((message) => ({ record: accept(message, store.clock.now()) })),
      "new",
    );
    await store.close();
    return store;
  };

  it.each([
    ["the body", "pay 100 to Alice"],
    ["the configuration", "https://alice.example/hook"],
  ])("is not delivered, and stops no other message: a flipped bit in %s", async (_, words) => {
    const hurt = aMessage({
      body: Buffer.from("pay 100 to Alice"),
      url: "https://alice.example/hook",
    });
    const sound = aMessage();
    const { dataDir, clock } = await closedWith(hurt, sound);
    flipBit(dataDir, words);
    const { records } = openIn(dataDir, { clock });

    const claimed = await records.claim([hurt.id, sound.id], anOwner);

    expect(claimed.map(({ message }) => message.id)).toEqual([sound.id]);
    await expect(records.get(hurt.tenant, [hurt.id])).rejects.toThrow("is damaged");
  });

  it("ring every ten minutes and are logged, while the others ring as before", async () => {
    const [hurt, sound] = [aMessage({ url: "https://alice.example/hook" }), aMessage()];
    const { dataDir, clock } = await closedWith(hurt, sound);
    flipBit(dataDir, "https://alice.example/hook");
    const log = recordingLog();
    const { alarms } = openIn(dataDir, { clock, log });
    await clock.advance(limits.ringAheadMs);

    const { hints } = byKind(await alarms.ring(allShards, 10));

    expect(hints.map(({ id }) => id)).toEqual([sound.id]);
    expect(log.events()).toEqual(["store.damaged"]);
    expect(await alarms.ring(allShards, 10)).toEqual({ rung: [], more: new Set() });
    expect(log.events()).toEqual(["store.damaged"]);
  });

  it("stops no other run, neither its alarm nor its sweep, and is swept itself", async () => {
    const store = openIn(newDirectory());
    const { clock, dataDir } = store;
    // The callers' IPs are in the heads only.
    const callers = { hurt: "198.51.100.66", sound: "198.51.100.77" };
    for (const [name, callerIp] of Object.entries(callers)) {
      const id = runId(name);
      const { run } = await store.runs.start(aTenant, id, "new", (use) =>
        aRunStart(use, { id, callerIp, root: store.ids.next(), now: clock.now() }),
      );
      const wait = { kind: "wait", step: 1, event: "paid", deadline: clock.now() } as const;
      await store.runs.change(run, (seen) => {
        const next = isActive(seen) && awaiting(seen, wait);
        if (!next) throw new Error("it has ended");
        return { verdict: true, write: headAlone(next) };
      });
    }
    await store.close();
    flipBit(dataDir, callers.hurt);
    const log = recordingLog();
    const { alarms, runs } = openIn(dataDir, { clock, log });

    const { rung } = await alarms.ring(allShards, 10, ["run"]);
    const sound = await runs.get({ tenant: aTenant, id: runId("sound") });
    if (sound) await runs.change(sound, (seen) => ending(seen, clock.now()));
    endRun(dataDir, "hurt", clock.now());
    await clock.advance(1_000);

    expect(rung).toMatchObject([{ kind: "run", run: { key: sound?.key } }]);
    expect(await runs.sweep(aTenant, clock.now(), 10)).toBe(2);
    expect(countRows(dataDir, "runs")).toBe(0);
    expect(log.events()).toEqual(["store.damaged", "store.damaged"]);
  });
});

describe("migrations", () => {
  const first = "CREATE TABLE notes (text TEXT)";
  const second = "ALTER TABLE notes ADD COLUMN read INTEGER NOT NULL DEFAULT 0";
  const of = (...steps: string[]): Schema => ({ firstVersion: 7, steps });
  const openNotes = (): DatabaseSync => new DatabaseSync(join(newDirectory(), "notes.db"));
  const versionOf = (db: DatabaseSync) => db.prepare("PRAGMA user_version").get()?.["user_version"];

  it("bring an older file up to date and keep its contents", () => {
    const db = openNotes();
    migrate(db, of(first));
    db.exec("INSERT INTO notes VALUES ('kept')");

    migrate(db, of(first, second));

    expect(
      db
        .prepare("SELECT text, read FROM notes")
        .all()
        .map((row) => ({ ...row })),
    ).toEqual([{ text: "kept", read: 0 }]);
    expect(versionOf(db)).toBe(8);
    db.close();
  });

  it("leave the file unchanged when one fails half-way", () => {
    const db = openNotes();
    migrate(db, of(first));

    expect(() => migrate(db, of(first, `${second}; INSERT INTO nowhere VALUES (1)`))).toThrow(
      "nowhere",
    );

    expect(versionOf(db)).toBe(7);
    expect(db.prepare("SELECT * FROM notes").columns()).toHaveLength(1);
    db.close();
  });

  it("run once each", () => {
    const db = openNotes();

    migrate(db, of(first, second));

    expect(() => migrate(db, of(first, second))).not.toThrow();
    db.close();
  });

  it("refuse a file that is older than the first of them", () => {
    const db = openNotes();
    migrate(db, of(first));
    db.exec("PRAGMA user_version = 6");

    expect(() => migrate(db, of(first, second))).toThrow(
      "the database has schema version 6, which is older than any release",
    );
    db.close();
  });
});

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

/** Sets the column that ends a run, and leaves its head as it is. */
function endRun(dataDir: string, id: string, endedAt: number): void {
  const db = new DatabaseSync(fileIn(dataDir));
  db.prepare("UPDATE runs SET ended_at = ? WHERE id = ?").run(endedAt, id);
  db.close();
}

function flipBit(dataDir: string, words: string): void {
  const bytes = readFileSync(fileIn(dataDir));
  const at = bytes.indexOf(words);
  if (at < 0) throw new Error(`${words} is not in the file`);
  bytes[at + 4] = (bytes[at + 4] ?? 0) ^ 1;
  writeFileSync(fileIn(dataDir), bytes);
}
