/** The amounts spent of quotas, as rows, so that a restart loses none. */
import { type DatabaseSync } from "node:sqlite";
import { tooFarAheadAfter } from "@posthaste/domain";
import { type Clock, type Spent } from "@posthaste/ports";
import { integer } from "../database/rows.ts";

export type SpentRows = {
  /** For use inside a write. */
  spend(name: string, n: number, max: number, lastsMs: number): Spent;
  /** Removes expired rows, and returns how many. For use inside a write. */
  sweep(now: number, limit: number): number;
};

export function openSpent(db: DatabaseSync, clock: Clock): SpentRows {
  const select = db.prepare("SELECT n FROM spent WHERE name = ? AND until > ? AND until <= ?");
  const put = db.prepare("INSERT OR REPLACE INTO spent (name, n, until) VALUES (?, ?, ?)");
  const sweep = db.prepare(
    "DELETE FROM spent WHERE name IN (SELECT name FROM spent WHERE until <= ? LIMIT ?)",
  );
  return {
    spend: (name, n, max, lastsMs) => {
      const now = clock.now();
      const row = select.get(name, now, tooFarAheadAfter(lastsMs, now));
      const count = row ? integer(row["n"]) : 0;
      if (count + n > max) return { isWithin: false, left: Math.max(0, max - count) };
      put.run(name, count + n, now + lastsMs);
      return { isWithin: true, left: max - count - n };
    },
    sweep: (now, limit) => Number(sweep.run(now, limit).changes),
  };
}
