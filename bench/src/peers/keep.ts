/**
 * The work of the least on a publish: insert, sync, answer, sign, deliver, settle and log. There is one writer; all writes
 * that come during a sync go into the next commit. A queue runs one call at a time in the order of the keys, the next when
 * the settle of the one before is on disk.
 */
import { fdatasync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Publish } from "./accept.ts";
import { deliver } from "./deliver.ts";
import { signature } from "./sign.ts";

const leaseMs = 30_000;
/** Finished messages are removed a while later, as in Posthaste. */
const keptMessages = 100_000;
const tidyEveryMs = 1_000;

/** `answer` is called when the message is on disk. */
export function keepIn(folder: string): (publish: Publish, answer: () => void) => void {
  const { insert, settle, remove, write } = open(join(folder, "least.db"));
  /** The waiting calls of each queue that has one running. */
  const lines = new Map<string, (() => void)[]>();
  let last = 0;
  setInterval(() => write(() => remove.run(last - keptMessages)), tidyEveryMs);

  return (publish, answer) => {
    const { id, delivery, queue } = publish;
    const key = ++last;
    const createdAt = Date.now();
    const json = JSON.stringify({ id, url: delivery.url, headers: delivery.headers });
    const call = () => {
      const startedAt = Date.now();
      const headers = { ...delivery.headers, "service-signature": signature(publish, startedAt) };
      deliver({ ...delivery, headers }, (outcome) => {
        if (outcome !== 200) console.error("least: a delivery failed", outcome);
        const endedAt = Date.now();
        write(
          () => settle(key, [createdAt, startedAt, endedAt]),
          queue === undefined ? undefined : () => next(queue),
        );
      });
    };
    write(
      () => insert.run(key, createdAt + leaseMs, json, delivery.body, queue ?? null),
      () => {
        answer();
        if (queue === undefined) call();
        else enter(queue, call);
      },
    );
  };

  function enter(queue: string, call: () => void): void {
    const line = lines.get(queue);
    if (line !== undefined) {
      line.push(call);
      return;
    }
    lines.set(queue, []);
    call();
  }

  function next(queue: string): void {
    const call = lines.get(queue)?.shift();
    if (call === undefined) lines.delete(queue);
    else call();
  }
}

function open(file: string) {
  const db = new DatabaseSync(file);
  db.exec(`
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE messages (key INTEGER PRIMARY KEY, state INTEGER, wake_at INTEGER, json TEXT, body BLOB, queue TEXT);
    CREATE INDEX by_alarm ON messages (wake_at) WHERE wake_at IS NOT NULL;
    CREATE INDEX by_queue ON messages (queue, key) WHERE queue IS NOT NULL AND wake_at IS NOT NULL;
    CREATE TABLE events (at INTEGER, message INTEGER, step INTEGER, PRIMARY KEY (at, message, step)) WITHOUT ROWID;
    CREATE INDEX by_message ON events (message);
  `);
  const end = db.prepare("UPDATE messages SET state = 1, wake_at = NULL WHERE key = ?");
  const note = db.prepare("INSERT INTO events VALUES (?, ?, 0), (?, ?, 1), (?, ?, 2)");
  const settle = (key: number, [created, started, ended]: readonly [number, number, number]) => {
    end.run(key);
    note.run(created, key, started, key, ended, key);
  };
  return {
    insert: db.prepare("INSERT INTO messages VALUES (?, 0, ?, ?, ?, ?)"),
    settle,
    remove: db.prepare("DELETE FROM messages WHERE key <= ?"),
    write: writerOf(db, openSync(`${file}-wal`, "r+")),
  };
}

type Write = { readonly work: () => void; readonly done: (() => void) | undefined };

function writerOf(db: DatabaseSync, log: number): (work: () => void, done?: () => void) => void {
  let queue: Write[] = [];
  let isSyncing = false;
  const commit = () => {
    if (isSyncing || queue.length === 0) return;
    isSyncing = true;
    setImmediate(() => {
      const batch = queue;
      queue = [];
      db.exec("BEGIN");
      for (const { work } of batch) work();
      db.exec("COMMIT");
      fdatasync(log, (error) => {
        if (error) throw error;
        isSyncing = false;
        for (const { done } of batch) done?.();
        commit();
      });
    });
  };
  return (work, done) => {
    queue.push({ work, done });
    commit();
  };
}
