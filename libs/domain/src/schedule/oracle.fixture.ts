/** The rules of docs/design/schedules, minute by minute and with nothing but `Intl`: slow, and hard to get wrong. */
import { type Cron } from "./cron.ts";

const minuteMs = 60_000;

/** Returns the wall time of an instant, read as if it were UTC. */
export type WallClock = (instant: number) => number;

export function wallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** A wall time, read once for all expressions. */
type Wall = {
  readonly minute: number;
  readonly hour: number;
  readonly date: number;
  readonly month: number;
  readonly day: number;
};

function wallAt(time: number): Wall {
  const date = new Date(time);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    date: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDay(),
  };
}

export type Minute = {
  readonly instant: number;
  readonly wall: Wall;
  /** Wall times that this instant is the first to reach or to pass: its own, none, or those of a gap as well. */
  readonly reached: readonly Wall[];
};

/** `from` and `until` are whole minutes. Wall times from a day before `from` on count as reached. */
export function minutesOf(clock: WallClock, from: number, until: number): readonly Minute[] {
  const minutes: Minute[] = [];
  let highest = -Infinity;
  for (let instant = from - 1_440 * minuteMs; instant < until; instant += minuteMs) {
    const time = clock(instant);
    const wall = wallAt(time);
    const reached = time > highest ? [wall] : [];
    const first = highest === -Infinity ? time : highest + minuteMs;
    for (let each = first; each < time; each += minuteMs) reached.push(wallAt(each));
    highest = Math.max(highest, time);
    if (instant >= from) minutes.push({ instant, wall, reached });
  }
  return minutes;
}

export const slotsAmong = (cron: Cron, minutes: readonly Minute[]): readonly number[] =>
  minutes
    .filter(({ wall, reached }) =>
      cron.hour.isStar ? matches(cron, wall) : reached.some((each) => matches(cron, each)),
    )
    .map(({ instant }) => instant);

function matches(cron: Cron, wall: Wall): boolean {
  if (!cron.minute.values.includes(wall.minute)) return false;
  if (!cron.hour.values.includes(wall.hour) || !cron.month.values.includes(wall.month))
    return false;
  const inMonth = cron.dayOfMonth.values.includes(wall.date);
  const inWeek = cron.dayOfWeek.values.includes(wall.day);
  const areBothRestricted = !cron.dayOfMonth.isStar && !cron.dayOfWeek.isStar;
  return areBothRestricted ? inMonth || inWeek : inMonth && inWeek;
}
