/**
 * After the clock was set back, alarms that were set before stand as far ahead as the clock was. What callers named stays: held
 * messages, schedules, waits of runs. The rest is brought home once: each rings within `limits.ringAheadMs`, and by then a call
 * that runs has renewed its lease.
 */
import { type DatabaseSync } from "node:sqlite";
import { aheadFrom, limits } from "@posthaste/domain";
import { type Clock, watchSetBack } from "@posthaste/ports";
import { alarmAt } from "../lanes.ts";
import { firstFinishedCode, isUnderstood, stateCodes } from "./records.ts";

/** Each along its index. A record that is due rings at growing distances. */
const alarms = [
  [
    `messages SET wake_at = ? WHERE wake_at > ? AND state < ${firstFinishedCode}
      AND state IN (${stateCodes.due}, ${stateCodes.claimed}, ${stateCodes.waiting})`,
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
  const wasSetBack = watchSetBack(clock);
  const moves = alarms.map(([update, aheadMsMax]) => ({
    move: db.prepare(`UPDATE ${update} AND ${isUnderstood}`),
    aheadMsMax,
  }));
  return () => {
    if (!wasSetBack()) return;
    const now = clock.now();
    for (const { move, aheadMsMax } of moves)
      move.run(now + limits.ringAheadMs, aheadFrom(aheadMsMax, now));
  };
}
