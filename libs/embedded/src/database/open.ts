/** Opening the database file: refuse what we cannot serve, bring what is older up to date. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { integer } from "./rows.ts";
import { sqliteCode } from "./failures.ts";
import { lockDirectory } from "./lock.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { keepOwnerOnly, makeOwnerOnly } from "./owner-only.ts";
import { rewriteLog } from "./rewrite-log.ts";
import { openWalSync, type Sync } from "./sync.ts";

export type Database = {
  /** The only connection that writes. */
  readonly db: DatabaseSync;
  /** For lists: a snapshot and a page cache of its own. The same connection when there is no file. */
  readonly reader: DatabaseSync;
  /** Absent, like the path, when everything is gone with the process. */
  readonly sync?: Sync;
  readonly path?: string;
  /** The file was found damaged at work: the next open checks all of it, however large. */
  suspect(): void;
  close(): void;
};

export type DatabaseOptions = {
  /** The disk is full: answers whether room was made. */
  readonly makeRoom: () => boolean;
};

export function openDatabase(dataDir: string, { makeRoom }: DatabaseOptions): Database {
  refuseOldSqlite(process.versions["sqlite"] ?? "0");
  if (dataDir === ":memory:") return openInMemory();
  const unlock = lockDirectory(dataDir);
  try {
    return withRoom(dataDir, () => openFile(dataDir, unlock, makeRoom), makeRoom);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** To open is to write a little: on a disk filled to the last byte that needs the reserve, and without it is said plainly. */
export function withRoom<T>(dataDir: string, open: () => T, makeRoom: () => boolean): T {
  try {
    return open();
  } catch (cause) {
    if (sqliteCode(cause) !== "full") throw cause;
    if (makeRoom()) return withRoom(dataDir, open, () => false);
    throw new Error(`the disk of ${dataDir} is full: the store can be opened when it has room`, {
      cause,
    });
  }
}

function openInMemory(): Database {
  const db = new DatabaseSync(":memory:");
  migrate(db, migrations);
  return { db, reader: db, suspect: () => undefined, close: () => db.close() };
}

function openFile(dataDir: string, unlock: () => void, makeRoom: () => boolean): Database {
  const path = join(dataDir, "posthaste.db");
  makeOwnerOnly(path);
  for (const ending of ["-wal", "-shm"]) keepOwnerOnly(path + ending);
  const suspicion = join(dataDir, "suspect");
  const db = new DatabaseSync(path, { timeout: busyMsMax });
  try {
    configure(db);
    refuseDamaged(db, path, existsSync(suspicion) ? Infinity : checkedBytesMax);
    rmSync(suspicion, { force: true });
    rewriteLog(db, path, makeRoom);
    migrate(db, migrations);
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

/** Another program may look into the file; the writer stands still for no longer than this. */
const busyMsMax = 1_000;

/** Pages that are free are given back when we ask for it (vacuum.ts); that is decided when a file is made. NORMAL: each commit is synced by the writer before any caller is told (sync.ts, I1). The write-ahead log is brought in by checkpoints of our own (checkpoints.ts). */
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
 * A whole check reads the whole file, so only a small one gets it. Of a large one the hot table is read when claims are
 * recovered, configurations and bodies carry checksums, and a file that SQLite finds damaged at work is checked as a
 * whole at the next start: it is then refused, instead of failing at the same page again and again.
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

/** Older ones can lose a commit when a write-ahead log is reset. */
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
