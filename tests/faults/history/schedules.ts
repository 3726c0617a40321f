/**
 * Schedules of every minute (C14): each slot from the making to the removal has one message (S1, S2), and no other time has one. No fault
 * excuses a violation: everything broken is whole again within minutes.
 */
import { type Firing, type History, type ScheduleLife } from "./journal.ts";
import { violation, type Violation } from "./violation.ts";

export const minuteMs = 60_000;

export const scheduleRules = ({ firings, schedules }: History): readonly Violation[] =>
  schedules.flatMap((schedule) => {
    const { askedAt, endsFrom, endedAt, id, madeAt } = schedule;
    if (endsFrom === undefined || endedAt === undefined) return [];
    const ids = messagesOf(schedule, firings);
    const fired = slotsOf(ids);
    const evidence = { id, ids, madeAt, endedAt };
    return [
      ...(fired < ids.length ? [violation("a slot fired twice", evidence)] : []),
      ...(fired < slotsIn(madeAt, endsFrom) ? [violation("a slot was left out", evidence)] : []),
      ...(fired > slotsIn(askedAt, endedAt) ? [violation("a slot that is none", evidence)] : []),
    ];
  });

/** Reports whether a slot has come due whose message has not come. */
export const isBehind = (
  schedule: ScheduleLife,
  firings: readonly Firing[],
  until: number,
): boolean => slotsOf(messagesOf(schedule, firings)) < slotsIn(schedule.madeAt, until);

const messagesOf = ({ id }: ScheduleLife, firings: readonly Firing[]): readonly string[] => [
  ...new Set(firings.flatMap((firing) => (firing.schedule === id ? firing.id : []))),
];

/** An id begins with the position of its slot in time. */
const slotsOf = (ids: readonly string[]): number =>
  new Set(ids.map((id) => id.slice(0, "msg_".length + 9))).size;

/** Counts the whole minutes after `from`, up to `to`. */
const slotsIn = (from: number, to: number): number =>
  Math.floor(to / minuteMs) - Math.floor(from / minuteMs);
