/**
 * Sweeps the log in the order of time: whole rows that were delivered, and events one by one. The details of a failed
 * attempt are removed with its ERROR.
 */
import { minuteMs, rankOf } from "@posthaste/domain";
import { integer, type Row } from "../database/rows.ts";
import { type Store } from "../messages/store.ts";
import { openOwnSweep } from "./own.ts";
import { attemptOf, ranks } from "./steps.ts";
import { type Sweep } from "../query/sweep.ts";
import { openRemoval } from "../kept-bodies.ts";

/** Counts messages, each with its events. */
export function openLogSweep(store: Store): Sweep {
  const { db, clock, configurations, finished, terms } = store;
  const oldest = db.prepare(`
    SELECT at, message, step FROM events WHERE tenant = ? AND at < ? ORDER BY at, message, step LIMIT ?`);
  const remove = db.prepare(
    "DELETE FROM events WHERE tenant = ? AND (at, message, step) <= (?, ?, ?)",
  );
  const removeCounts = db.prepare("DELETE FROM event_counts WHERE tenant = ? AND minute < ?");
  const oldCount = db.prepare("SELECT 1 FROM event_counts WHERE tenant = ? AND minute < ? LIMIT 1");
  const removeDetails = db.prepare("DELETE FROM details WHERE message = ? AND attempt = ?");

  const removeRows = db.prepare(
    "DELETE FROM messages WHERE position IN (SELECT value FROM json_each(?))",
  );
  const removeBodies = openRemoval(db);
  const own = openOwnSweep(db, clock, finished);

  const sweepRows = (tenant: number, before: number, limit: number): number => {
    const gone = own.next(tenant, before, limit);
    if (gone.length === 0) return 0;
    const positions = JSON.stringify(gone);
    removeRows.run(positions);
    removeBodies(gone);
    terms.removeOrphans(positions);
    return gone.length;
  };

  const sweepEvents = (tenant: number, before: number, limit: number): number => {
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
  };

  return {
    isDue: (tenant, before) =>
      oldest.get(tenant, before, 1) !== undefined ||
      own.isDue(tenant, before) ||
      oldCount.get(tenant, Math.floor(before / minuteMs)) !== undefined,
    sweep: (tenant, before, limit) => {
      removeCounts.run(tenant, Math.floor(before / minuteMs));
      const swept = sweepRows(tenant, before, limit);
      return swept < limit ? swept + sweepEvents(tenant, before, limit - swept) : swept;
    },
  };
}

/** The usual number of events: CREATED, ACTIVE, DELIVERED. */
const eventsPerMessage = 3;
const errorRank = rankOf.ERROR;
