/** The alarms of runs that wait: one look along an index that holds no run without an alarm. */
import { type DatabaseSync } from "node:sqlite";
import { type InRun, limits } from "@posthaste/domain";
import { integer, type Row } from "../database/rows.ts";
import { runFrom } from "./rows.ts";

type RunRef = Pick<InRun, "key" | "root">;

/** `shards`: JSON, or undefined for all. */
export type RunAlarms = {
  /** Inside a write: rings due alarms, moving each ahead. */
  ring(shards: string | undefined, now: number, limit: number): readonly RunRef[];
  nextAlarm(shards: string | undefined): number | undefined;
};

export function openRunAlarms(db: DatabaseSync): RunAlarms {
  const isMine = "shard IN (SELECT value FROM json_each(?))";
  const ring = (where: string) =>
    db.prepare(`
      UPDATE runs SET wake_at = ? WHERE position IN (
        SELECT position FROM runs WHERE wake_at <= ? AND ${where} ORDER BY wake_at LIMIT ?)
      RETURNING json, crc, moving, moving_crc`);
  const next = (where: string) =>
    db.prepare(`
      SELECT wake_at FROM runs WHERE wake_at IS NOT NULL AND ${where} ORDER BY wake_at LIMIT 1`);
  const [ringAll, ringSome] = [ring("TRUE"), ring(isMine)];
  const [nextOfAll, nextOfSome] = [next("TRUE"), next(isMine)];
  return {
    ring: (shards, now, limit) => {
      const ahead = now + limits.ringAheadMs;
      const rows: readonly Row[] =
        shards === undefined
          ? ringAll.all(ahead, now, limit)
          : ringSome.all(ahead, now, shards, limit);
      return rows.map(runFrom).map(({ key, root }) => ({ key, root }));
    },
    nextAlarm: (shards) => {
      const row = shards === undefined ? nextOfAll.get() : nextOfSome.get(shards);
      return row && integer(row["wake_at"]);
    },
  };
}
