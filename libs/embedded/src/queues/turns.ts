/**
 * Turns: which messages of a queue have one, and when it is over (docs/design/queues#turns). A turn and the record that it lets continue are
 * written together, so none is ever half given.
 */
import { type DatabaseSync } from "node:sqlite";
import { tooFarAheadAfter, limits } from "@posthaste/domain";
import { countedMax } from "@posthaste/ports";
import { integer, optionalInteger, type Row } from "../database/rows.ts";
import { firstFinishedCode } from "../messages/records.ts";
import { type QueueRows } from "./rows.ts";

export type Turns = {
  give(queue: number, position: number, now: number): void;
  /** Returns the positions of the messages that have a turn. */
  holders(queue: number): readonly number[];
  take(queue: number, position: number): void;
  takeAll(queue: number): void;
  /** Removes the turns that are over. Returns how many are left. */
  repair(queue: number, now: number): number;
  /**
   * Removes the turn of the message at `position` if it is over, and wakes the queue. Must be called after an end
   * that may have ended the turn.
   */
  mayBeOver(queue: number, position: number, now: number): void;
  /** Returns when the oldest turn of the queues that are not paused was given. */
  oldest(): number | undefined;
};

/**
 * The condition that the message is done, as `isDone` of the domain has it, and that no callback of it is live. Both are checked in one
 * transaction.
 */
const isOver = `
  NOT EXISTS (SELECT 1 FROM messages m WHERE m.position = turns.message
    AND (m.state < ${firstFinishedCode} OR m.outbox > 0 OR (m.runs_until > ? AND m.runs_until <= ?)))
  AND NOT EXISTS (SELECT 1 FROM messages c WHERE c.turn_of = turns.message AND c.state < ${firstFinishedCode})`;

const runningFrom = (now: number): [number, number] => [now, tooFarAheadAfter(limits.leaseMs, now)];

export function openTurns(db: DatabaseSync, rows: QueueRows): Turns {
  const give = db.prepare(
    "INSERT OR IGNORE INTO turns (queue, message, given_at) VALUES (?, ?, ?)",
  );
  const holders = db.prepare("SELECT message FROM turns WHERE queue = ? ORDER BY message");
  const take = db.prepare("DELETE FROM turns WHERE queue = ? AND message = ?");
  const takeAll = db.prepare("DELETE FROM turns WHERE queue = ?");
  const repair = db.prepare(`DELETE FROM turns WHERE queue = ? AND ${isOver}`);
  const takeIfOver = db.prepare(`DELETE FROM turns WHERE queue = ? AND message = ? AND ${isOver}`);
  const count = db.prepare("SELECT count(*) AS n FROM turns WHERE queue = ?");
  const oldest = db.prepare(`
    SELECT min(given_at) AS at FROM (SELECT queue, given_at FROM turns LIMIT ${countedMax})
      JOIN queues ON queues.key = queue WHERE paused = 0`);
  return {
    give: (queue, position, now) => void give.run(queue, position, now),
    holders: (queue) => holders.all(queue).map((row: Row) => integer(row["message"])),
    take: (queue, position) => void take.run(queue, position),
    takeAll: (queue) => void takeAll.run(queue),
    repair: (queue, now) => {
      repair.run(queue, ...runningFrom(now));
      return integer(count.get(queue)?.["n"]);
    },
    mayBeOver: (queue, position, now) => {
      takeIfOver.run(queue, position, ...runningFrom(now));
      rows.wake(queue, now);
    },
    oldest: () => optionalInteger(oldest.get()?.["at"] ?? null),
  };
}
