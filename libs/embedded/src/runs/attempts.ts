/** Attempts of the deliveries of runs: written by the settle or with facts from elsewhere, and read with their run. */
import { type DatabaseSync } from "node:sqlite";
import {
  attemptReplacedBy,
  type AttemptFact,
  byTime,
  limits,
  type MessageId,
  positionOf,
  type RunAttempt,
  type ToldAttempt,
} from "@posthaste/domain";
import { pack, unpack } from "../answers.ts";
import { optionalBytes, stored, text } from "../database/rows.ts";
import { positionOfRun } from "./rows.ts";

/** For use inside a write. */
export type RunAttempts = { readonly put: (told: ToldAttempt) => void };

export function openRunAttempts(db: DatabaseSync): RunAttempts {
  const insert = db.prepare(`
    INSERT OR IGNORE INTO run_attempts (run, part, attempt, at, json, response) VALUES (?, ?, ?, ?, ?, ?)`);
  const remove = db.prepare("DELETE FROM run_attempts WHERE run = ? AND part = ? AND attempt = ?");
  return {
    put: ({ run: { root, part }, fact }) => {
      const position = positionOfRun(root);
      const { json, response } = pack(fact, limits.logResponseBytesMax);
      insert.run(position, part, fact.attempt, fact.endedAt, json, response);
      const replaced = attemptReplacedBy(fact.attempt);
      if (replaced !== undefined) remove.run(position, part, replaced);
    },
  };
}

/** Returns attempts in the order of time. */
export function openAttemptReading(
  reader: DatabaseSync,
): (root: MessageId) => readonly RunAttempt[] {
  const latest = reader.prepare(`
    SELECT part, json, response FROM run_attempts WHERE rowid IN (
      SELECT rowid FROM run_attempts WHERE run = ? ORDER BY at DESC, attempt DESC
      LIMIT ${limits.runAttemptsShownMax})`);
  return (root) =>
    latest
      .all(positionOf(root) ?? -1)
      .map((row): RunAttempt => {
        const response = optionalBytes(row["response"] ?? null);
        return {
          part: text(row["part"]),
          fact: unpack(stored<AttemptFact>(text(row["json"])), response),
        };
      })
      .toSorted(byTime);
}
