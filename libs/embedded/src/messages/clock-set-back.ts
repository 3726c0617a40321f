/**
 * Corrects alarms after the clock was set back: alarms set before are as far ahead as the clock was. Times that
 * callers set stay: delays, schedules, waits of runs. All remaining alarms are corrected once: retries come earlier
 * by that much, and the rest rings within `limits.ringAheadMs`. By then a running call has renewed its lease. A start
 * corrects retries by their own length, and rings the rest (recovery.ts).
 */
import { type DatabaseSync } from "node:sqlite";
import { tooFarAheadAfter, limits, skewMsMax } from "@posthaste/domain";
import { type Clock, watchSetBack } from "@posthaste/ports";
import { alarmAt } from "../lanes.ts";
import { firstFinishedCode, isKnownFormat, stateCodes } from "./records.ts";

/** Each update runs along an index. The distance between rings of a due record grows, so its bound is larger. */
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

/** Does in SQL what `movedUp` of the domain does. */
export function openRetryMoves(db: DatabaseSync): (now: number, setBackMs: number) => void {
  const update = db.prepare(`
    UPDATE messages SET
      until = max(?1, min(until - ?2, ?1 + hints)), wake_at = max(?1, min(wake_at - ?2, ?1 + hints))
    WHERE wake_at > ?1 AND state < ${firstFinishedCode} AND state = ${stateCodes.held}
      AND hints > 0 AND until > ?1 + iif(?2 > 0, ?2 - ${skewMsMax}, hints + ${skewMsMax}) AND ${isKnownFormat}`);
  return (now, setBackMs) => void update.run(now, setBackMs);
}

/** Returns a function to be called inside a write. It does nothing unless the clock was set back since the last call. */
export function openAlarmMoves(db: DatabaseSync, clock: Clock): () => void {
  const setBack = watchSetBack(clock);
  const moveRetries = openRetryMoves(db);
  const moves = alarms.map(([update, aheadMsMax]) => ({
    move: db.prepare(`UPDATE ${update} AND ${isKnownFormat}`),
    aheadMsMax,
  }));
  return () => {
    const setBackMs = setBack();
    if (setBackMs === 0) return;
    const now = clock.now();
    moveRetries(now, setBackMs);
    for (const { move, aheadMsMax } of moves)
      move.run(now + limits.ringAheadMs, tooFarAheadAfter(aheadMsMax, now));
  };
}
