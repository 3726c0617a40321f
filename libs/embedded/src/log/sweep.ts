/** Sweeps the log event by event, in the order of time. The details of a failed attempt go with its ERROR. */
import { minuteMs, rankOf } from "@posthaste/domain";
import { integer, type Row } from "../database/rows.ts";
import { type Rooms } from "../messages/rooms.ts";
import { attemptOf, ranks } from "./steps.ts";

export type LogSweep = {
  /** Reports whether there is anything to sweep, without a write. */
  readonly isDue: (tenant: number, before: number) => boolean;
  /** Removes events before `before`, of about `limit` messages, and returns the number of messages. For use inside a write. */
  readonly sweep: (tenant: number, before: number, limit: number) => number;
};

export function openLogSweep(rooms: Rooms): LogSweep {
  const { db, configurations } = rooms;
  const oldest = db.prepare(`
    SELECT at, message, step FROM events WHERE tenant = ? AND at < ? ORDER BY at, message, step LIMIT ?`);
  const remove = db.prepare(
    "DELETE FROM events WHERE tenant = ? AND (at, message, step) <= (?, ?, ?)",
  );
  const removeCounts = db.prepare("DELETE FROM event_counts WHERE tenant = ? AND minute < ?");
  const oldCount = db.prepare("SELECT 1 FROM event_counts WHERE tenant = ? AND minute < ? LIMIT 1");
  const removeDetails = db.prepare("DELETE FROM details WHERE message = ? AND attempt = ?");

  return {
    isDue: (tenant, before) =>
      oldest.get(tenant, before, 1) !== undefined ||
      oldCount.get(tenant, Math.floor(before / minuteMs)) !== undefined,
    sweep: (tenant, before, limit) => {
      removeCounts.run(tenant, Math.floor(before / minuteMs));
      const rows: readonly Row[] = oldest.all(tenant, before, limit * eventsPerMessage);
      const messages = new Set<number>();
      let last: Row | undefined;
      for (const row of rows) {
        const message = integer(row["message"]);
        if (messages.size >= limit && !messages.has(message)) break;
        messages.add(message);
        last = row;
        const step = integer(row["step"]);
        if (step % ranks === errorRank) removeDetails.run(message, attemptOf(step));
      }
      if (!last) return 0;
      remove.run(tenant, integer(last["at"]), integer(last["message"]), integer(last["step"]));
      configurations.removeOrphans(JSON.stringify([...messages]));
      return messages.size;
    },
  };
}

/** The usual number: CREATED, ACTIVE, DELIVERED. */
const eventsPerMessage = 3;
const errorRank = rankOf("ERROR");
