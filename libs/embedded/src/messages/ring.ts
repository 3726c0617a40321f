/** Ringing: what is due is moved ahead in the same write that answers it. */
import { type InState, isIn, limits, type MessageRecord, ring } from "@posthaste/domain";
import { type Hint, type Rings } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { isDamaged, messageFrom } from "./configurations.ts";
import { shardsColumn } from "./next-alarm.ts";
import { type Reading } from "./read.ts";
import { bodilessColumns, bodilessTables, columnsOf, recordFrom, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Ring = (shards: readonly number[], limit: number) => Rings;

/** One ring reads at most so many bytes of bodies; what is left rings in the next. */
const bodyBytesPerRingMax = 64 * 1024 * 1024;

export function openRing(rooms: Rooms, reading: Reading): Ring {
  const { db, clock, lanes, log } = rooms;
  const due = `SELECT ${bodilessColumns}, m.origin FROM ${bodilessTables} WHERE m.wake_at <= ?`;
  const dueInAll = db.prepare(`${due} ORDER BY m.wake_at LIMIT ?`);
  const dueInSome = db.prepare(
    `${due} AND m.shard IN (SELECT value FROM json_each(?)) ORDER BY m.wake_at LIMIT ?`,
  );
  const move = db.prepare(
    "UPDATE messages SET state = ?, until = ?, hints = ?, wake_at = ? WHERE position = ?",
  );
  const postpone = db.prepare("UPDATE messages SET wake_at = ? WHERE position = ?");

  /** A record that cannot be read rings seldom, says so in the log, and stops nobody else. */
  const unlessDamaged = <T>(position: number, now: number, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!isDamaged(error)) throw error;
      log.error("store.damaged", { position, error });
      postpone.run(now + limits.ringAheadMsMax, position);
      return undefined;
    }
  };

  const ringRecords = (
    shards: string | undefined,
    now: number,
    limit: number,
  ): Omit<Rings, "lanes"> => {
    const hints: Hint[] = [];
    const expanding: InState<"expanding">[] = [];
    const followUps: MessageRecord[] = [];
    let bodyBytes = 0;
    const rows =
      shards === undefined ? dueInAll.all(now, limit) : dueInSome.all(now, shards, limit);
    for (const row of rows) {
      if (bodyBytes > bodyBytesPerRingMax) break;
      const position = integer(row["position"]);
      const needsBody =
        integer(row["outbox"]) > 0 || integer(row["state"]) === stateCodes.expanding;
      const record = unlessDamaged(position, now, () =>
        needsBody ? reading.at(position)?.record : recordFrom(row, messageFrom(row), []),
      );
      if (!record) continue;
      bodyBytes += record.message.body.length;
      const { next, wakeAt, then, followUp } = ring(record, now);
      const { code, until, hints: hinted } = columnsOf(next);
      move.run(code, until, hinted, wakeAt ?? null, position);
      if (followUp) followUps.push(record);
      switch (then) {
        case "nothing":
          break;
        case "hint":
          hints.push(reading.hint(row));
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

  return (shards, limit) => {
    const now = clock.now();
    const inShards = shardsColumn(shards);
    const rung = ringRecords(inShards, now, limit);
    return { ...rung, lanes: lanes.ring(inShards, now, limit) };
  };
}
