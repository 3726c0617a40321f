/** A lane's records: which wait at its head, which hold a slot, and the promotion from waiting to due. */
import { type FlowId, type MessageId, promote } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { integer, type Row, text } from "../database/rows.ts";
import { idOf } from "./positions.ts";
import { hintColumns, type Reading } from "./read.ts";
import { columnsOf, stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

export type Line = {
  readonly heads: (lane: FlowId, n: number) => readonly Hint[];
  readonly promote: (
    lane: FlowId,
    ids: readonly MessageId[],
    grantUntil: number,
  ) => readonly MessageId[];
  readonly slotHolders: (
    lane: FlowId,
  ) => readonly { readonly id: MessageId; readonly until: number }[];
};

/** A record's place in line is its position, which never changes: a record that waits again has its old place. */
export function openLine({ db, clock, lanes, names }: Store, reading: Reading): Line {
  const heads = db.prepare(`
    SELECT ${hintColumns} FROM messages WHERE lane = ? AND state = ${stateCodes.waiting} ORDER BY position LIMIT ?`);
  const write = db.prepare(`
    UPDATE messages SET state = ?, until = ?, hints = ?, wake_at = ?
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
      const { next, wakeAt = null } = promote(grantUntil, clock.now());
      const { code, until, hints } = columnsOf(next);
      return ids.flatMap((id) => {
        const address = names.find(id);
        return address
          ? write.all(code, until, hints, wakeAt, address.position, address.name, key).map(idFrom)
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
