/** The alarms of schedules: one look along their index, which holds only those that are to ring. */
import { type DatabaseSync } from "node:sqlite";
import { limits, type Schedule } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { isUnderstood } from "../messages/records.ts";
import { scheduleFrom } from "./rows.ts";

/** `shards`: JSON, or undefined for all. */
export type ScheduleAlarms = {
  /** Inside a write: rings due alarms, moving each ahead. */
  ring(shards: string | undefined, now: number, limit: number): readonly Schedule[];
  nextAlarm(shards: string | undefined): number | undefined;
};

export function openScheduleAlarms(db: DatabaseSync, log: Log): ScheduleAlarms {
  const isMine = "shard IN (SELECT value FROM json_each(?))";
  const ring = (where: string) =>
    db.prepare(`
      UPDATE schedules SET wake_at = ? WHERE key IN (
        SELECT key FROM schedules WHERE wake_at <= ? AND ${where} ORDER BY wake_at LIMIT ?)
      RETURNING id, json, crc, wake_at`);
  const next = (where: string) =>
    db.prepare(`
      SELECT wake_at FROM schedules WHERE wake_at IS NOT NULL AND ${where} ORDER BY wake_at LIMIT 1`);
  const ringAll = ring(isUnderstood);
  const ringSome = ring(`${isUnderstood} AND ${isMine}`);
  const nextOfAll = next(isUnderstood);
  const nextOfSome = next(`${isUnderstood} AND ${isMine}`);

  /** One that cannot be read says so in the log, and stops no other. */
  const unlessDamaged = (row: Row): Schedule | undefined => {
    try {
      return scheduleFrom(row);
    } catch (error) {
      log.error("store.damaged", { schedule: text(row["id"]), error });
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
