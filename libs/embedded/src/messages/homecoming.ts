/**
 * After the clock was set back, alarms that were set before stand as far ahead as the clock was. What callers named stays:
 * delays, schedules, waits of runs. The rest is brought home once: retries come as much sooner, and all else rings within
 * `limits.ringAheadMs`. By then a call that runs has renewed its lease. A start brings retries home by their own length, and
 * rings the rest (recovery.ts).
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

/** As `broughtHome` of the domain says it. */
export function openRetriesHome(db: DatabaseSync): (now: number, setBackMs: number) => void {
  const update = db.prepare(`
    UPDATE messages SET
      until = max(?1, min(until - ?2, ?1 + hints)), wake_at = max(?1, min(wake_at - ?2, ?1 + hints))
    WHERE wake_at > ?1 AND state < ${firstFinishedCode} AND state = ${stateCodes.held}
      AND hints > 0 AND until > ?1 + iif(?2 > 0, ?2 - ${skewMsMax}, hints + ${skewMsMax}) AND ${isUnderstood}`);
  return (now, setBackMs) => void update.run(now, setBackMs);
}

/** To be called inside a write. Nothing, unless the clock was set back since the last call. */
export function openHomecoming(db: DatabaseSync, clock: Clock): () => void {
  const setBack = watchSetBack(clock);
  const bringRetriesHome = openRetriesHome(db);
  const moves = alarms.map(([update, aheadMsMax]) => ({
    move: db.prepare(`UPDATE ${update} AND ${isUnderstood}`),
    aheadMsMax,
  }));
  return () => {
    const setBackMs = setBack();
    if (setBackMs === 0) return;
    const now = clock.now();
    bringRetriesHome(now, setBackMs);
    for (const { move, aheadMsMax } of moves)
      move.run(now + limits.ringAheadMs, aheadFrom(aheadMsMax, now));
  };
}
