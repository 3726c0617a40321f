/** Ringing alarms and granting lanes: the scheduler's writes. */
import {
  type InState,
  isIn,
  type LaneId,
  limits,
  type MessageId,
  type MessageRecord,
  ring,
  shardCount,
} from "@posthaste/domain";
import { type Hint, type Rings } from "@posthaste/ports";
import { integer, text } from "../database/rows.ts";
import { DamagedError } from "./configurations.ts";
import { idOf } from "./names.ts";
import { hintColumns, type Reading, type Standing } from "./read.ts";
import { alarmColumn, columnsOf, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Ringing = {
  ring(shards: readonly number[], limit: number): Rings;
  nextAlarm(shards: readonly number[]): number | undefined;
  heads(lane: LaneId, n: number): readonly MessageId[];
  promote(lane: LaneId, ids: readonly MessageId[], grantUntil: number): readonly Hint[];
  slotHolders(lane: LaneId): readonly { readonly id: MessageId; readonly until: number }[];
};

/** One ring reads at most so many bytes of bodies; what is left rings in the next. */
const bodyBytesPerRingMax = 64 * 1024 * 1024;

/** A single process has all the shards and need not filter. */
const asColumn = (shards: readonly number[]): string | undefined =>
  shards.length === shardCount ? undefined : JSON.stringify(shards);

export function openRinging(rooms: Rooms, reading: Reading): Ringing {
  const { db, clock, lanes, names, log } = rooms;
  const due = "SELECT position FROM messages WHERE wake_at <= ?";
  const dueInAll = db.prepare(`${due} ORDER BY wake_at LIMIT ?`);
  const dueInSome = db.prepare(`${due} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT ?`);
  const move = db.prepare("UPDATE messages SET state = ?, until = ?, hints = ?, wake_at = ? WHERE position = ?");
  const postpone = db.prepare("UPDATE messages SET wake_at = ? WHERE position = ?");
  const hint = db.prepare(`SELECT ${hintColumns} FROM messages WHERE position = ?`);
  const alarm = "SELECT wake_at FROM messages WHERE wake_at IS NOT NULL";
  const nextOfAll = db.prepare(`${alarm} ORDER BY wake_at LIMIT 1`);
  const nextOfSome = db.prepare(`${alarm} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT 1`);
  const heads = db.prepare(`
    SELECT position, name FROM messages WHERE lane = ? AND state = ${stateCodes.waiting} ORDER BY position LIMIT ?`);
  const promote = db.prepare(`
    UPDATE messages SET state = ${stateCodes.due}, until = ?, hints = 0, wake_at = ?
    WHERE position = ? AND name = ? AND lane = ? AND state = ${stateCodes.waiting} RETURNING ${hintColumns}`);
  const holders = db.prepare(`
    SELECT position, name, until FROM messages
    WHERE lane = ? AND state IN (${stateCodes.due}, ${stateCodes.claimed}) AND until > ?`);

  const findSound = (position: number, now: number): Standing | undefined => {
    try {
      return reading.at(position);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      log.error("store.damaged", { position, error });
      postpone.run(now + limits.ringAheadMsMax, position);
      return undefined;
    }
  };

  const ringRecords = (shards: string | undefined, now: number, limit: number): Omit<Rings, "lanes"> => {
    const hints: Hint[] = [];
    const expanding: InState<"expanding">[] = [];
    const followUps: MessageRecord[] = [];
    let bodyBytes = 0;
    const rows = shards === undefined ? dueInAll.all(now, limit) : dueInSome.all(now, shards, limit);
    for (const row of rows) {
      if (bodyBytes > bodyBytesPerRingMax) break;
      const position = integer(row["position"]);
      const found = findSound(position, now);
      if (!found) continue;
      const { record } = found;
      bodyBytes += record.message.body.length;
      const { next, wakeAt, then, followUp } = ring(record, now);
      const { code, until, hints: hinted } = columnsOf(next);
      move.run(code, until, hinted, wakeAt ?? null, position);
      if (followUp) followUps.push(record);
      switch (then) {
        case "nothing":
          break;
        case "hint":
          for (const hinting of hint.all(position)) hints.push(reading.hint(hinting));
          break;
        case "grant":
          if (record.message.flowLane !== undefined) lanes.arrive(record.message.flowLane, now);
          break;
        case "expand":
          if (isIn(record, "expanding")) expanding.push(record);
          break;
      }
    }
    return { hints, expanding, followUps };
  };

  return {
    ring: (shards, limit) => {
      const now = clock.now();
      const inShards = asColumn(shards);
      const rung = ringRecords(inShards, now, limit);
      return { ...rung, lanes: lanes.ring(inShards, now, limit) };
    },
    nextAlarm: (shards) => {
      const inShards = asColumn(shards);
      const row = inShards === undefined ? nextOfAll.get() : nextOfSome.get(inShards);
      const ofLanes = lanes.nextAlarm(inShards);
      const ofRecords = row && integer(row["wake_at"]);
      return ofRecords === undefined || ofLanes === undefined ? (ofRecords ?? ofLanes) : Math.min(ofRecords, ofLanes);
    },
    heads: (lane, n) => {
      const key = lanes.key(lane);
      if (key === undefined) return [];
      return heads.all(key, n).map((row) => idOf({ position: integer(row["position"]), name: text(row["name"]) }));
    },
    promote: (lane, ids, grantUntil) => {
      const key = lanes.key(lane);
      if (key === undefined) return [];
      const wakeAt = alarmColumn({ kind: "due", hints: 0, grantUntil }, false, clock.now());
      return ids.flatMap((id) => {
        const address = names.find(id);
        return address ? promote.all(grantUntil, wakeAt, address.position, address.name, key).map(reading.hint) : [];
      });
    },
    slotHolders: (lane) => {
      const key = lanes.key(lane);
      if (key === undefined) return [];
      return holders.all(key, clock.now()).map((row) => ({
        id: idOf({ position: integer(row["position"]), name: text(row["name"]) }),
        until: integer(row["until"]),
      }));
    },
  };
}
