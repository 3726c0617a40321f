/** The earliest alarm, of a record or a lane: one look at each of two indexes. */
import { shardCount } from "@posthaste/domain";
import { integer } from "../database/rows.ts";
import { type Rooms } from "./rooms.ts";

export type NextAlarm = (shards: readonly number[]) => number | undefined;

export function openNextAlarm({ db, lanes }: Rooms): NextAlarm {
  const alarm = "SELECT wake_at FROM messages WHERE wake_at IS NOT NULL";
  const ofAll = db.prepare(`${alarm} ORDER BY wake_at LIMIT 1`);
  const ofSome = db.prepare(
    `${alarm} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT 1`,
  );

  return (shards) => {
    const inShards = shardsColumn(shards);
    const row = inShards === undefined ? ofAll.get() : ofSome.get(inShards);
    const ofRecords = row && integer(row["wake_at"]);
    const ofLanes = lanes.nextAlarm(inShards);
    if (ofRecords === undefined) return ofLanes;
    return ofLanes === undefined ? ofRecords : Math.min(ofRecords, ofLanes);
  };
}

/** Undefined for all: a single process has all the shards and need not filter. */
export const shardsColumn = (shards: readonly number[]): string | undefined =>
  shards.length === shardCount ? undefined : JSON.stringify(shards);
