/** How far the parent of a group publish is expanded, and its end (decisions.md 10). */
import { type MessageId } from "@posthaste/domain";
import { integer } from "../database/rows.ts";
import { end } from "./consequences.ts";
import { alarmColumn, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Expanded = (parent: MessageId, from: number, upTo: number, done: boolean) => boolean;

export function openExpanded(rooms: Rooms): Expanded {
  const { db, clock, names } = rooms;
  const write = db.prepare(`
    UPDATE messages SET state = ?, until = ?, wake_at = ?
    WHERE position = ? AND name = ? AND state = ${stateCodes.expanding} AND until = ? RETURNING tenant`);
  const freeChunks = db.prepare("DELETE FROM chunk_uses WHERE parent = ?");

  return (parent, from, upTo, done) => {
    const address = names.find(parent);
    if (!address) return false;
    const now = clock.now();
    const { position, name } = address;
    const row = done
      ? write.get(stateCodes.expanded, now, null, position, name, from)
      : write.get(
          stateCodes.expanding,
          upTo,
          alarmColumn({ kind: "expanding", upTo }, false, now),
          position,
          name,
          from,
        );
    if (!row || !done) return row !== undefined;
    freeChunks.run(position);
    end(rooms, position, integer(row["tenant"]), now);
    return true;
  };
}
