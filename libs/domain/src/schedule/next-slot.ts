/** Finds the next slot of a cron expression (docs/design/schedules#summer-and-winter-time). */
import { type Cron } from "./cron.ts";
import { type Stretch, stretchAt } from "./zone.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Wall time and UTC are never this far apart. */
const offsetMsMax = dayMs;
/** Covers the longest gap between two 29ths of February, over a century year without one, and some days more. */
const horizonMs = 8 * 366 * dayMs;

/** Returns the first slot later than `after`, in Unix milliseconds; undefined when there is none within eight years. */
export function nextSlot(cron: Cron, after: number): number | undefined {
  const end = after + horizonMs;
  if (cron.zone === undefined) return firstWall(cron, after + 1, end);
  for (let at = after + 1; at < end;) {
    // Years without a matching day in any zone are skipped: looking up a year's offsets takes a thousand times as long.
    const wall = firstWall(cron, at - offsetMsMax, end + offsetMsMax);
    if (wall === undefined) return undefined;
    at = Math.max(at, wall - offsetMsMax);
    const stretch = stretchAt(cron.zone, at);
    const slot = slotIn(cron, stretch, at);
    if (slot !== undefined) return slot;
    at = stretch.until;
  }
  return undefined;
}

/**
 * Finds the first slot of a stretch from `at` on. An hour with a star is an interval: each instant fires whose wall
 * time matches. Any other hour is a time of day: one that a change of the clock leaves out fires at the first instant
 * after the change, and one that occurs twice fires the first time.
 */
function slotIn(cron: Cron, stretch: Stretch, at: number): number | undefined {
  const { from, until, offsetMs, offsetBeforeMs } = stretch;
  let wall = at + offsetMs;
  if (!cron.hour.isStar) {
    const reached = from + offsetBeforeMs;
    if (at === from && firstWall(cron, reached, from + offsetMs) !== undefined) return from;
    wall = Math.max(wall, reached);
  }
  const found = firstWall(cron, wall, until + offsetMs);
  return found === undefined ? undefined : found - offsetMs;
}

/** Returns the first matching minute among the wall times from `from` to before `until`, both read as if they were UTC. */
function firstWall(cron: Cron, from: number, until: number): number | undefined {
  let day = Math.floor(from / dayMs) * dayMs;
  let minuteOfDay = Math.ceil((from - day) / minuteMs);
  while (day < until) {
    const date = new Date(day);
    const isMonth = cron.month.values.includes(date.getUTCMonth() + 1);
    const minute = isMonth && isDay(cron, date) ? firstMinute(cron, minuteOfDay) : undefined;
    if (minute !== undefined) {
      const found = day + minute * minuteMs;
      return found < until ? found : undefined;
    }
    day = isMonth ? day + dayMs : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    minuteOfDay = 0;
  }
  return undefined;
}

/** When both day fields are restricted, matching one of them is enough. */
function isDay({ dayOfMonth, dayOfWeek }: Cron, date: Date): boolean {
  const inMonth = dayOfMonth.values.includes(date.getUTCDate());
  const inWeek = dayOfWeek.values.includes(date.getUTCDay());
  return dayOfMonth.isStar || dayOfWeek.isStar ? inMonth && inWeek : inMonth || inWeek;
}

/** Returns the first matching minute of a day at or after `from`, counted from midnight. */
function firstMinute({ hour, minute }: Cron, from: number): number | undefined {
  const first = minute.values[0] ?? 0;
  for (const value of hour.values) {
    const start = value * 60;
    if (start + 59 < from) continue;
    if (start >= from) return start + first;
    const later = minute.values.find((each) => start + each >= from);
    if (later !== undefined) return start + later;
  }
  return undefined;
}
