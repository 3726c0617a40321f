/** A lane's records: who waits at its head, who holds a slot, and the promotion of the one to the other. */
import { type LaneId, type MessageId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { idOf } from "./names.ts";
import { hintColumns, type Reading } from "./read.ts";
import { alarmColumn, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Line = {
  readonly heads: (lane: LaneId, n: number) => readonly Hint[];
  readonly promote: (
    lane: LaneId,
    ids: readonly MessageId[],
    grantUntil: number,
  ) => readonly MessageId[];
  readonly slotHolders: (
    lane: LaneId,
  ) => readonly { readonly id: MessageId; readonly until: number }[];
};

/** The place in line is the position: it is given once, so who waits again has his old place. */
export function openLine({ db, clock, lanes, names }: Rooms, reading: Reading): Line {
  const heads = db.prepare(`
    SELECT ${hintColumns} FROM messages WHERE lane = ? AND state = ${stateCodes.waiting} ORDER BY position LIMIT ?`);
  const promote = db.prepare(`
    UPDATE messages SET state = ${stateCodes.due}, until = ?, hints = 0, wake_at = ?
    WHERE position = ? AND name = ? AND lane = ? AND state = ${stateCodes.waiting} RETURNING position, name`);
  const holders = db.prepare(`
    SELECT position, name, until FROM messages
    WHERE lane = ? AND state IN (${stateCodes.due}, ${stateCodes.claimed}) AND until > ?`);

  return {
    heads: (lane, n) => {
      const key = lanes.key(lane);
      return key === undefined ? [] : heads.all(key, n).map(reading.hint);
    },
    promote: (lane, ids, grantUntil) => {
      const key = lanes.key(lane);
      if (key === undefined) return [];
      const wakeAt = alarmColumn({ kind: "due", hints: 0, grantUntil }, false, clock.now());
      return ids.flatMap((id) => {
        const address = names.find(id);
        return address
          ? promote.all(grantUntil, wakeAt, address.position, address.name, key).map(idFrom)
          : [];
      });
    },
    slotHolders: (lane) => {
      const key = lanes.key(lane);
      if (key === undefined) return [];
      return holders
        .all(key, clock.now())
        .map((row) => ({ id: idFrom(row), until: integer(row["until"]) }));
    },
  };
}

const idFrom = (row: Row): MessageId =>
  idOf({ position: integer(row["position"]), name: text(row["name"]) });
