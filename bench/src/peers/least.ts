/**
 * The least that keeps the promise: durable before the answer, signed, settled and logged, out of the same parts as
 * Posthaste and of nothing else. It knows no retry, no tenant, no limit, no restart; what Posthaste costs beyond it is
 * what Posthaste does beyond it. `node least.ts <port> <data folder>`
 */
import { createHmac, createSecretKey, hash } from "node:crypto";
import { fdatasync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Publish, serve } from "./accept.ts";
import { deliver } from "./deliver.ts";

const [port, folder = "."] = process.argv.slice(2);
const file = join(folder, "least.db");
const db = new DatabaseSync(file);
db.exec(`
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE messages (key INTEGER PRIMARY KEY, state INTEGER, wake_at INTEGER, json TEXT, body BLOB);
  CREATE INDEX by_alarm ON messages (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE events (at INTEGER, message INTEGER, step INTEGER, PRIMARY KEY (at, message, step)) WITHOUT ROWID;
  CREATE INDEX by_message ON events (message);
`);
const log = openSync(`${file}-wal`, "r+");
const insert = db.prepare("INSERT INTO messages VALUES (?, 0, ?, ?, ?)");
const settle = db.prepare("UPDATE messages SET state = 1, wake_at = NULL WHERE key = ?");
const note = db.prepare("INSERT INTO events VALUES (?, ?, 0), (?, ?, 1), (?, ?, 2)");
const remove = db.prepare("DELETE FROM messages WHERE key <= ?");

type Write = { readonly work: () => void; readonly done: () => void };
let queue: Write[] = [];
let isSyncing = false;

/** All that came while the last sync ran goes into the next commit. */
function commit(): void {
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
      for (const { done } of batch) done();
      commit();
    });
  });
}

function write(work: () => void, done: () => void): void {
  queue.push({ work, done });
  commit();
}

const key = createSecretKey(Buffer.from("sig_0123456789abcdefghijklmnopqr"));
const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url");

function signature({ id, delivery }: Publish, now: number): string {
  const at = Math.floor(now / 1_000);
  const body = hash("sha256", delivery.body, "base64url");
  const claims = {
    iss: "least",
    sub: delivery.url,
    exp: at + 300,
    nbf: at,
    iat: at,
    jti: id,
    body,
  };
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

const leaseMs = 30_000;
let last = 0;
serve(Number(port), (publish, answer) => {
  const { id, delivery } = publish;
  const number = ++last;
  const createdAt = Date.now();
  const json = JSON.stringify({ id, url: delivery.url, headers: delivery.headers });
  write(
    () => insert.run(number, createdAt + leaseMs, json, delivery.body),
    () => {
      answer();
      const startedAt = Date.now();
      const headers = { ...delivery.headers, "service-signature": signature(publish, startedAt) };
      deliver({ ...delivery, headers }, (outcome) => {
        if (outcome !== 200) console.error("least: a delivery failed", outcome);
        const endedAt = Date.now();
        write(
          () => {
            settle.run(number);
            note.run(createdAt, number, startedAt, number, endedAt, number);
          },
          () => undefined,
        );
      });
    },
  );
});

/** What is finished goes a while later, as it does elsewhere. */
const keptMessages = 100_000;
const tidyEveryMs = 1_000;
setInterval(() => {
  write(
    () => remove.run(last - keptMessages),
    () => undefined,
  );
}, tidyEveryMs);
