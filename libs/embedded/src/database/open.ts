/** Opens the database file: refuses a file that cannot be served, and migrates an older one. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { integer } from "./rows.ts";
import { sqliteCode } from "./failures.ts";
import { lockDirectory } from "./lock.ts";
import { migrate } from "./migrate.ts";
import { databaseFile, schema } from "./schema.ts";
import { keepOwnerOnly, makeOwnerOnly } from "./owner-only.ts";
import { rewriteLog } from "./rewrite-log.ts";
import { openWalSync, type Sync } from "./write-ahead-log.ts";

export type Database = {
  /** The only connection that writes. */
  readonly db: DatabaseSync;
  /** The connection that lists read through, with a snapshot and a page cache of its own. The same as `db` when there is no file. */
  readonly reader: DatabaseSync;
  /** Absent, like the path, when the store is in memory. */
  readonly sync?: Sync;
  readonly path?: string;
  /** Marks the file as damaged: the next open checks all of it, however large. */
  suspect(): void;
  close(): void;
};

export type DatabaseOptions = {
  /** Makes room on a full disk. Returns false if there was none to make. */
  readonly makeRoom: () => boolean;
};

export function openDatabase(dataDir: string, { makeRoom }: DatabaseOptions): Database {
  refuseOldSqlite(process.versions["sqlite"] ?? "0");
  if (dataDir === ":memory:") return openInMemory();
  const unlock = lockDirectory(dataDir);
  try {
    return openWithReserve(dataDir, () => openFile(dataDir, unlock, makeRoom), makeRoom);
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Opens with `open`, which writes a little. On a completely full disk the reserve is given up for that. Without a
 * reserve, throws with a plain message.
 */
export function openWithReserve<T>(dataDir: string, open: () => T, makeRoom: () => boolean): T {
  try {
    return open();
  } catch (cause) {
    if (sqliteCode(cause) !== "full") throw cause;
    if (makeRoom()) return openWithReserve(dataDir, open, () => false);
    throw new Error(`the disk of ${dataDir} is full: the store can be opened when it has room`, {
      cause,
    });
  }
}

function openInMemory(): Database {
  const db = new DatabaseSync(":memory:");
  migrate(db, schema);
  return { db, reader: db, suspect: () => undefined, close: () => db.close() };
}

function openFile(dataDir: string, unlock: () => void, makeRoom: () => boolean): Database {
  const path = join(dataDir, databaseFile);
  makeOwnerOnly(path);
  for (const ending of ["-wal", "-shm"]) keepOwnerOnly(path + ending);
  const suspicion = join(dataDir, "suspect");
  const db = new DatabaseSync(path, { timeout: busyMsMax });
  try {
    configure(db);
    refuseDamaged(db, path, existsSync(suspicion) ? Infinity : checkedBytesMax);
    rmSync(suspicion, { force: true });
    rewriteLog(db, path, makeRoom);
    migrate(db, schema);
    const reader = new DatabaseSync(path, { readOnly: true });
    const sync = openWalSync(path);
    const close = (): void => {
      sync.close();
      reader.close();
      db.close();
      unlock();
    };
    const suspect = (): void =>
      writeFileSync(suspicion, "checked as a whole at the next start\n", { mode: 0o600 });
    return { db, reader, sync, path, suspect, close };
  } catch (cause) {
    db.close();
    if (sqliteCode(cause) !== "damaged") throw cause;
    throw new Error(damaged(path), { cause });
  }
}

/** How long the writer waits for another program that has locked the file. */
const busyMsMax = 1_000;

/**
 * `auto_vacuum`: free pages are given back on request (vacuum.ts); this is decided when the file is made. `synchronous`: NORMAL, since
 * the writer syncs each commit before any caller is answered (write-ahead-log.ts, I1). `wal_autocheckpoint`: off, since our own checkpoints move the log
 * (write-ahead-log.ts).
 */
function configure(db: DatabaseSync): void {
  db.exec(`
    PRAGMA page_size = 8192;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -32768;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 134217728;
  `);
}

/**
 * Throws when SQLite's check finds damage in a file of at most `bytesMax`. The check reads the whole file, so by
 * default only a small file is checked. Of a large file the hot table is read when claims are recovered, and
 * configurations and bodies have checksums. A file that SQLite finds damaged at work is checked as a whole at the
 * next start, and is then refused instead of failing at the same page again and again.
 */
function refuseDamaged(db: DatabaseSync, path: string, bytesMax: number): void {
  const pages = integer(db.prepare("PRAGMA page_count").get()?.["page_count"]);
  const pageBytes = integer(db.prepare("PRAGMA page_size").get()?.["page_size"]);
  if (pages * pageBytes > bytesMax) return;
  const verdict = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (verdict !== "ok") throw new Error(`${damaged(path)}: ${String(verdict)}`);
}

const damaged = (path: string): string =>
  `the database ${path} is damaged and was not opened; restore it from a backup`;

const checkedBytesMax = 64 * 1024 * 1024;

/** Older versions can lose a commit when a write-ahead log is reset. */
const sqliteMin = "3.51.3";

export function refuseOldSqlite(version: string): void {
  if (isOlder(version, sqliteMin))
    throw new Error(
      `SQLite ${version} is too old: ${sqliteMin} is needed, which comes with Node 24.15`,
    );
}

function isOlder(version: string, than: string): boolean {
  const wanted = than.split(".").map(Number);
  const had = version.split(".").map(Number);
  const differing = wanted.findIndex((part, i) => part !== (had[i] ?? 0));
  return differing >= 0 && (had[differing] ?? 0) < (wanted[differing] ?? 0);
}
