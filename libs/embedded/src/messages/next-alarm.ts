/** Finds the earliest alarm of some sources, with one look at each index. */
import {
  type AlarmSource,
  recordSources,
  type RecordSource,
  rowSources,
  shardCount,
} from "@posthaste/domain";
import { integer } from "../database/rows.ts";
import { firstFinishedCode, isKnownFormat } from "./records.ts";
import { type Store } from "./store.ts";

export type NextAlarm = (
  shards: readonly number[],
  sources: readonly AlarmSource[],
) => number | undefined;

/** The rows of each source of records, each along an index of its own. `fact` has none: facts are written by the settle itself. */
const recordsOf: { readonly [Source in RecordSource]: string | undefined } = {
  record: `state < ${firstFinishedCode}`,
  followUp: `state >= ${firstFinishedCode}`,
  fact: undefined,
};

export const rungRecords = recordSources.flatMap((source) => {
  const rows = recordsOf[source];
  return rows === undefined ? [] : [{ source, rows }];
});

export function openNextAlarm({ alarms, db }: Store): NextAlarm {
  const looks = rungRecords.map(({ source, rows }) => {
    const alarm = `SELECT wake_at FROM messages WHERE wake_at IS NOT NULL AND ${rows} AND ${isKnownFormat}`;
    const ofAll = db.prepare(`${alarm} ORDER BY wake_at LIMIT 1`);
    const ofSome = db.prepare(
      `${alarm} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT 1`,
    );
    return { source, ofAll, ofSome };
  });

  return (shards, sources) => {
    const inShards = shardsColumn(shards);
    const found = looks
      .filter(({ source }) => sources.includes(source))
      .map(({ ofAll, ofSome }) => (inShards === undefined ? ofAll.get() : ofSome.get(inShards)))
      .flatMap((row) => (row ? integer(row["wake_at"]) : []));
    for (const source of rowSources) {
      const alarm = sources.includes(source) ? alarms[source].nextAlarm(inShards) : undefined;
      if (alarm !== undefined) found.push(alarm);
    }
    return found.length > 0 ? Math.min(...found) : undefined;
  };
}

/** Returns undefined for all shards: a single process has them all and need not filter. */
export const shardsColumn = (shards: readonly number[]): string | undefined =>
  shards.length === shardCount ? undefined : JSON.stringify(shards);
