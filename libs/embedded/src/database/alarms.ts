/** The alarms of one table. Every look uses the table's partial index of `wake_at`, which holds only rows with an alarm. */
import { type DatabaseSync } from "node:sqlite";
import { limits } from "@posthaste/domain";
import { type Rung } from "@posthaste/ports";
import { isKnownFormat } from "../messages/records.ts";
import { integer, type Row } from "./rows.ts";

/** `shards` is a JSON array, or undefined for all shards. */
export type Alarms = {
  /** Rings up to `limit` due rows and moves their alarms ahead. For use inside a write. */
  ring(shards: string | undefined, now: number, limit: number): readonly Rung[];
  nextAlarm(shards: string | undefined): number | undefined;
};

type Table = {
  readonly table: string;
  readonly key: string;
  readonly columns: string;
  readonly read: (row: Row) => Rung;
  /** Called with a row that cannot be read; the other rows ring. Absent if `read` reads plain columns only. */
  readonly damaged?: (row: Row, error: unknown) => void;
  readonly set?: string;
};

export function openAlarms(db: DatabaseSync, rows: Table): Alarms {
  const { table, key, columns, read, damaged, set = "wake_at = ?" } = rows;
  const isMine = `${isKnownFormat} AND shard IN (SELECT value FROM json_each(?))`;
  const ring = (where: string) =>
    db.prepare(`
      UPDATE ${table} SET ${set} WHERE ${key} IN (
        SELECT ${key} FROM ${table} WHERE wake_at <= ? AND ${where} ORDER BY wake_at LIMIT ?)
      RETURNING ${columns}`);
  const next = (where: string) =>
    db.prepare(`
      SELECT wake_at FROM ${table} WHERE wake_at IS NOT NULL AND ${where} ORDER BY wake_at LIMIT 1`);
  const [ringAll, ringSome] = [ring(isKnownFormat), ring(isMine)];
  const [nextOfAll, nextOfSome] = [next(isKnownFormat), next(isMine)];

  const readable = (row: Row): readonly Rung[] => {
    try {
      return [read(row)];
    } catch (error) {
      if (!damaged) throw error;
      damaged(row, error);
      return [];
    }
  };

  return {
    ring: (shards, now, limit) => {
      const ahead = now + limits.ringAheadMs;
      const due =
        shards === undefined
          ? ringAll.all(ahead, now, limit)
          : ringSome.all(ahead, now, shards, limit);
      return due.flatMap(readable);
    },
    nextAlarm: (shards) => {
      const row = shards === undefined ? nextOfAll.get() : nextOfSome.get(shards);
      return row && integer(row["wake_at"]);
    },
  };
}
