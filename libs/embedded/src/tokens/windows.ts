/**
 * Confirmed deduplication windows: rows, written with the record that they are for, so they survive whatever it
 * survives (docs/design/deduplication#windows).
 */
import { type DatabaseSync } from "node:sqlite";
import {
  tooFarAheadAfter,
  type DeduplicationKey,
  limits,
  messageId,
  type MessageId,
} from "@posthaste/domain";
import { type Clock, type DeduplicationEntry } from "@posthaste/ports";
import { text } from "../database/rows.ts";

export type Windows = {
  /** Leaves a key that holds another id as it is until its window ends. For use inside a write. */
  put(entries: readonly DeduplicationEntry[]): void;
  /** Removes the window of the key if it names this id. For use inside a write. */
  remove(entry: DeduplicationEntry): void;
  find(key: DeduplicationKey): MessageId | undefined;
  /** Removes expired windows, and returns how many. For use inside a write. */
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

/** The condition that a window is open; its parameters come from `heldFrom`. Matches `isOver` of the domain. */
const holds = "until > ? AND until <= ?";
const heldFrom = (now: number): [number, number] => [
  now,
  tooFarAheadAfter(limits.deduplicationMs, now),
];
