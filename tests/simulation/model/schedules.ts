/** Schedules in memory. */
import { type Schedule, type WholeSchedule } from "@posthaste/domain";
import { type ScheduleKey, type SchedulePlace, type Schedules } from "@posthaste/ports";
import { armedRows, type ArmedRows, byAlarm } from "./armed-rows.ts";
import { within } from "./page.ts";

export type ScheduleModel = ArmedRows<Schedule> & {
  readonly port: Schedules;
  readonly all: () => readonly Schedule[];
};

export function modelSchedules(now: () => number): ScheduleModel {
  const schedules = new Map<string, WholeSchedule>();

  const write = (schedule: Schedule & { readonly body?: Uint8Array }): boolean => {
    const current = schedules.get(keyOf(schedule));
    if ((current?.version ?? 0) !== schedule.version - 1) return false;
    const body = schedule.body ?? current?.body ?? new Uint8Array();
    schedules.set(keyOf(schedule), { ...schedule, body });
    return true;
  };
  const armed = armedRows(
    now,
    () => [...schedules.values()].toSorted(byAlarm),
    (each, wakeAt) => void schedules.set(keyOf(each), { ...each, wakeAt }),
  );

  return {
    port: {
      put: async (schedule) => write(schedule),
      move: async (moved) => moved.map(write),
      get: async (keys) => keys.map((key) => schedules.get(keyOf(key))),
      list: async (tenant, { after, limit, bytesMax }) => {
        const behind = [...schedules.values()]
          .filter((each) => each.tenant === tenant && (!after || isBehind(each, after)))
          .toSorted((a, b) => (isBehind(a, b) ? 1 : -1))
          .map(({ body: _, ...schedule }) => schedule);
        return within(behind.slice(0, limit), bytesMax);
      },
      count: async (tenant) =>
        [...schedules.values()].filter((each) => each.tenant === tenant).length,
      remove: async (key) => void schedules.delete(keyOf(key)),
    },
    all: () => [...schedules.values()],
    ring: (...given) => armed.ring(...given).map(({ body: _, ...schedule }) => schedule),
    next: armed.next,
    reopen: () => armed.reopen(({ next = 0, pending }) => pending !== undefined || next <= now()),
  };
}

const keyOf = ({ tenant, id }: ScheduleKey): string => `${tenant}/${id}`;

const isBehind = (each: SchedulePlace, after: SchedulePlace): boolean =>
  each.createdAt === after.createdAt ? each.id > after.id : each.createdAt > after.createdAt;
