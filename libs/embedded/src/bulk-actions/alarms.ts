/** The alarms of bulk actions: one look along their index, which holds only those that are under way. */
import { type DatabaseSync } from "node:sqlite";
import { type BulkAction, limits } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { actionFrom } from "./rows.ts";

/** `shards`: JSON, or undefined for all. */
export type BulkAlarms = {
  /** Inside a write: rings due alarms, moving each ahead. */
  ring(shards: string | undefined, now: number, limit: number): readonly BulkAction[];
  nextAlarm(shards: string | undefined): number | undefined;
};

export function openBulkAlarms(db: DatabaseSync, log: Log): BulkAlarms {
  const isMine = "shard IN (SELECT value FROM json_each(?))";
  const ring = (where: string) =>
    db.prepare(`
      UPDATE bulk_actions SET wake_at = ? WHERE key IN (
        SELECT key FROM bulk_actions WHERE wake_at <= ? AND ${where} ORDER BY wake_at LIMIT ?)
      RETURNING id, json, crc, wake_at`);
  const next = (where: string) =>
    db.prepare(`
      SELECT wake_at FROM bulk_actions WHERE wake_at IS NOT NULL AND ${where} ORDER BY wake_at LIMIT 1`);
  const ringAll = ring("TRUE");
  const ringSome = ring(isMine);
  const nextOfAll = next("TRUE");
  const nextOfSome = next(isMine);

  /** One that cannot be read says so in the log, and stops no other. */
  const unlessDamaged = (row: Row): BulkAction | undefined => {
    try {
      return actionFrom(row);
    } catch (error) {
      log.error("store.damaged", { bulkAction: text(row["id"]), error });
      return undefined;
    }
  };

  return {
    ring: (shards, now, limit) => {
      const ahead = now + limits.ringAheadMs;
      const rows: readonly Row[] =
        shards === undefined
          ? ringAll.all(ahead, now, limit)
          : ringSome.all(ahead, now, shards, limit);
      return rows.flatMap((row) => unlessDamaged(row) ?? []);
    },
    nextAlarm: (shards) => {
      const row = shards === undefined ? nextOfAll.get() : nextOfSome.get(shards);
      return row && integer(row["wake_at"]);
    },
  };
}
