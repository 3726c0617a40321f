/**
 * After the clock was set back, alarms that were set before stand as far ahead as the clock was. What callers named stays:
 * delays, schedules, waits of runs. The rest is brought home once: retries come as much sooner, and all else rings within
 * `limits.ringAheadMs`. By then a call that runs has renewed its lease.
 */
import { type DatabaseSync } from "node:sqlite";
import { aheadFrom, limits, skewMsMax } from "@posthaste/domain";
import { type Clock, watchSetBack } from "@posthaste/ports";
import { alarmAt } from "../lanes.ts";
import { firstFinishedCode, isUnderstood, stateCodes } from "./records.ts";

/** Each along its index. A record that is due rings at growing distances. */
const alarms = [
  [
    `messages SET wake_at = ? WHERE wake_at > ? AND state < ${firstFinishedCode}
      AND state IN (${stateCodes.claimed}, ${stateCodes.waiting})`,
    limits.ringAheadMs,
  ],
  [
    `messages SET wake_at = ? WHERE wake_at > ? AND state < ${firstFinishedCode}
      AND state = ${stateCodes.due}`,
    limits.ringAheadMsMax,
  ],
  [
    `messages SET wake_at = ? WHERE wake_at > ? AND state >= ${firstFinishedCode}`,
    limits.ringAheadMs,
  ],
  [`lanes SET ${alarmAt("?")} WHERE wake_at > ?`, limits.ringAheadMs],
  [`queues SET ${alarmAt("?")} WHERE wake_at > ?`, limits.ringAheadMs],
  ["fan_outs SET wake_at = ? WHERE wake_at > ?", limits.ringAheadMs],
  ["bulk_actions SET wake_at = ? WHERE wake_at > ?", limits.ringAheadMs],
] as const;

/** To be called inside a write. Nothing, unless the clock was set back since the last call. */
export function openHomecoming(db: DatabaseSync, clock: Clock): () => void {
  const setBack = watchSetBack(clock);
  const retries = db.prepare(`
    UPDATE messages SET until = max(?2, until - ?1), wake_at = max(?2, wake_at - ?1)
    WHERE wake_at > ?2 AND state < ${firstFinishedCode} AND state = ${stateCodes.held}
      AND retried + deferrals > 0 AND until > ?3 AND ${isUnderstood}`);
  const moves = alarms.map(([update, aheadMsMax]) => ({
    move: db.prepare(`UPDATE ${update} AND ${isUnderstood}`),
    aheadMsMax,
  }));
  return () => {
    const setBackMs = setBack();
    if (setBackMs === 0) return;
    const now = clock.now();
    // Some would have been due by now.
    retries.run(setBackMs, now, now + (setBackMs - skewMsMax));
    for (const { move, aheadMsMax } of moves)
      move.run(now + limits.ringAheadMs, aheadFrom(aheadMsMax, now));
  };
}
