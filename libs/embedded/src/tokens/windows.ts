/** Dedup windows that are done: rows, written with the record they stand for, so they survive whatever it survives (docs/design/deduplication#windows). */
import { type DatabaseSync } from "node:sqlite";
import {
  aheadFrom,
  type DeduplicationKey,
  limits,
  messageId,
  type MessageId,
} from "@posthaste/domain";
import { type Clock, type DeduplicationEntry } from "@posthaste/ports";
import { text } from "../database/rows.ts";

export type Windows = {
  /** Inside a write. A key that holds another id is left as it is until its time is over. */
  put(entries: readonly DeduplicationEntry[]): void;
  /** Inside a write: of a key that names this id. */
  remove(entry: DeduplicationEntry): void;
  find(key: DeduplicationKey): MessageId | undefined;
  /** Inside a write: removes those whose time is over. Returns how many. */
  sweep(now: number, limit: number): number;
};

export function openWindows(db: DatabaseSync, clock: Clock): Windows {
  const put = db.prepare(`
    INSERT INTO windows (key, id, until) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET id = excluded.id, until = excluded.until
    WHERE NOT (${holds})`);
  const remove = db.prepare("DELETE FROM windows WHERE key = ? AND id = ?");
  const select = db.prepare(`SELECT id FROM windows WHERE key = ? AND ${holds}`);
  // Each range along the index.
  const sweep = db.prepare(`
    DELETE FROM windows WHERE key IN (
      SELECT key FROM windows WHERE until <= ? UNION ALL SELECT key FROM windows WHERE until > ? LIMIT ?)`);
  return {
    put: (entries) => {
      const now = clock.now();
      for (const { key, id } of entries)
        put.run(key, id, now + limits.deduplicationMs, ...heldFrom(now));
    },
    remove: ({ key, id }) => void remove.run(key, id),
    find: (key) => {
      const row = select.get(key, ...heldFrom(clock.now()));
      return row && messageId(text(row["id"]));
    },
    sweep: (now, limit) => Number(sweep.run(...heldFrom(now), limit).changes),
  };
}

/** Over by `heldFrom`, as `isOver` of the domain says it. */
const holds = "until > ? AND until <= ?";
const heldFrom = (now: number): [number, number] => [now, aheadFrom(limits.deduplicationMs, now)];
