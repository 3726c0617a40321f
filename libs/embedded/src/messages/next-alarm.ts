/** The earliest alarm, of records, a fan-out, a lane, a queue, a schedule, a bulk action or a run: one look at each index. */
import { type AlarmSource, type RecordSource, shardCount } from "@posthaste/domain";
import { integer } from "../database/rows.ts";
import { firstFinishedCode, isUnderstood } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type NextAlarm = (
  shards: readonly number[],
  sources: readonly AlarmSource[],
) => number | undefined;

/** Of records. Facts are safe with their settle: none is ever left to ring. */
export const recordSources = ["record", "followUp"] as const satisfies readonly RecordSource[];

/** Which rows are of a source, each along an index of its own. */
export const rowsOf = {
  record: `state < ${firstFinishedCode}`,
  followUp: `state >= ${firstFinishedCode}`,
} as const satisfies Record<(typeof recordSources)[number], string>;

export function openNextAlarm({
  bulkAlarms,
  db,
  fanOuts,
  lanes,
  queues,
  runAlarms,
  scheduleAlarms,
}: Rooms): NextAlarm {
  const looks = recordSources.map((source) => {
    const rows = rowsOf[source];
    const alarm = `SELECT wake_at FROM messages WHERE wake_at IS NOT NULL AND ${rows} AND ${isUnderstood}`;
    const ofAll = db.prepare(`${alarm} ORDER BY wake_at LIMIT 1`);
    const ofSome = db.prepare(
      `${alarm} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT 1`,
    );
    return { source, ofAll, ofSome };
  });

  return (shards, sources) => {
    const inShards = shardsColumn(shards);
    const alarms = looks
      .filter(({ source }) => sources.includes(source))
      .map(({ ofAll, ofSome }) => (inShards === undefined ? ofAll.get() : ofSome.get(inShards)))
      .flatMap((row) => (row ? integer(row["wake_at"]) : []));
    const others = [
      lanes,
      queues,
      ...(sources.includes("fanOut") ? [fanOuts] : []),
      ...(sources.includes("schedule") ? [scheduleAlarms] : []),
      ...(sources.includes("bulkAction") ? [bulkAlarms] : []),
      ...(sources.includes("run") ? [runAlarms] : []),
    ];
    for (const rows of others) {
      const alarm = rows.nextAlarm(inShards);
      if (alarm !== undefined) alarms.push(alarm);
    }
    return alarms.length > 0 ? Math.min(...alarms) : undefined;
  };
}

/** Undefined for all: a single process has all the shards and need not filter. */
export const shardsColumn = (shards: readonly number[]): string | undefined =>
  shards.length === shardCount ? undefined : JSON.stringify(shards);
