/** Schedules in memory. */
import {
  allShards,
  isKnownFormat,
  limits,
  type Schedule,
  type WholeSchedule,
} from "@posthaste/domain";
import { type ScheduleKey, type SchedulePlace, type Schedules } from "@posthaste/ports";
import { within } from "./page.ts";

export type ScheduleModel = {
  readonly port: Schedules;
  readonly all: () => readonly Schedule[];
  /** Moves the alarm of each due schedule ahead. */
  readonly ring: (shards: readonly number[], limit: number) => readonly Schedule[];
  readonly next: (shards: readonly number[]) => number | undefined;
  /** Lets schedules ring now that had rung without being worked. */
  readonly reopen: () => void;
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
  const armedIn = (shards: readonly number[]): readonly WholeSchedule[] =>
    [...schedules.values()]
      .filter(
        (each) => each.wakeAt !== undefined && shards.includes(each.shard) && isKnownFormat(each),
      )
      .toSorted((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0));

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
    ring: (shards, limit) => {
      const due = armedIn(shards).filter(({ wakeAt = Infinity }) => wakeAt <= now());
      const rung = due.slice(0, limit);
      for (const each of rung)
        schedules.set(keyOf(each), { ...each, wakeAt: now() + limits.ringAheadMs });
      return rung.map(({ body: _, ...schedule }) => schedule);
    },
    next: (shards) => armedIn(shards)[0]?.wakeAt,
    reopen: () => {
      for (const each of armedIn(allShards)) {
        const isLeft = each.pending !== undefined || (each.next ?? 0) <= now();
        const wakeAt = Math.min(each.wakeAt ?? Infinity, now());
        if (isLeft) schedules.set(keyOf(each), { ...each, wakeAt });
      }
    },
  };
}

const keyOf = ({ tenant, id }: ScheduleKey): string => `${tenant}/${id}`;

const isBehind = (each: SchedulePlace, after: SchedulePlace): boolean =>
  each.createdAt === after.createdAt ? each.id > after.id : each.createdAt > after.createdAt;
