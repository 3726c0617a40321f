/** Planted bugs of schedules (docs/design/schedules#invariants). */
import {
  type Cron,
  isFault,
  nextSlot,
  parseCron,
  type Schedule,
  type ScheduleId,
} from "@posthaste/domain";
import { type Schedules } from "@posthaste/ports";
import { type Mutation, type NodePorts, insertingAs, withPort } from "./mutate.ts";

/** Replaces the write by which a scheduler begins a slot. */
const withBeginnings = (
  ports: NodePorts,
  begun: (schedule: Schedule, cron: Cron, before: Schedule) => Schedule,
): NodePorts =>
  withPort(ports, "schedules", {
    move: async (schedules) => {
      const before = await ports.schedules.get(schedules);
      return ports.schedules.move(
        schedules.map((schedule, i) => {
          const was = before[i];
          const cron = parseCron(schedule.cron);
          if (!was || was.pending !== undefined || isFault(cron)) return schedule;
          return begun(schedule, cron, was);
        }),
      );
    },
  });

const planted: readonly Mutation[] = [
  {
    // Only the process knows which slot is under way.
    name: "a schedule advanced without its intent",
    change: (ports) => {
      const underWay = new Map<string, number>();
      const keyOf = ({ tenant, id }: Parameters<Schedules["remove"]>[0]) => `${tenant}/${id}`;
      return withPort(ports, "schedules", {
        move: (schedules) =>
          ports.schedules.move(
            schedules.map(({ pending, wakeAt: _, ...rest }) => {
              if (pending === undefined) underWay.delete(keyOf(rest));
              else underWay.set(keyOf(rest), pending);
              const wakeAt = rest.isPaused ? undefined : rest.next;
              return { ...rest, ...(wakeAt !== undefined && { wakeAt }) };
            }),
          ),
        get: async (keys) =>
          (await ports.schedules.get(keys)).map((schedule) => {
            const pending = schedule && underWay.get(keyOf(schedule));
            return schedule && pending !== undefined ? { ...schedule, pending } : schedule;
          }),
      });
    },
  },
  {
    name: "messages of slots under random ids",
    change: (ports) =>
      insertingAs(ports, ({ origin }) =>
        origin.scheduleId === undefined ? undefined : ports.ids.next(),
      ),
  },
  {
    name: "the next slot counted from the clock",
    change: (ports) =>
      withBeginnings(ports, ({ next: _, ...schedule }, cron) => {
        const next = nextSlot(cron, ports.clock.now());
        return { ...schedule, ...(next !== undefined && { next }) };
      }),
  },
  {
    name: "every missed slot made up",
    change: (ports) =>
      withBeginnings(ports, (schedule, cron, { next: slot }) => {
        if (slot === undefined || slot > ports.clock.now()) return schedule;
        const next = nextSlot(cron, slot);
        return { ...schedule, pending: slot, ...(next !== undefined && { next }) };
      }),
  },
  {
    name: "a slot under way that nothing completes",
    change: (ports) =>
      withPort(ports, "alarms", {
        ring: async (...given) => {
          const { rung, ...rest } = await ports.alarms.ring(...given);
          const left = rung.filter(
            (each) => each.kind !== "schedule" || each.schedule.pending === undefined,
          );
          return { ...rest, rung: left };
        },
      }),
  },
  {
    name: "a schedule resumed where it was paused",
    change: (ports) => {
      const pausedAt = new Map<ScheduleId, number>();
      return withPort(ports, "schedules", {
        put: async (schedule, intake) => {
          const { next: _, ...rest } = schedule;
          if (schedule.isPaused && schedule.next !== undefined)
            pausedAt.set(schedule.id, schedule.next);
          const next = schedule.isPaused ? schedule.next : pausedAt.get(schedule.id);
          if (next === undefined) return ports.schedules.put(schedule, intake);
          return ports.schedules.put({ ...rest, next, wakeAt: next }, intake);
        },
      });
    },
  },
  {
    name: "a pause of a schedule that is said and not done",
    change: (ports) =>
      withPort(ports, "schedules", {
        put: async (schedule, intake) => schedule.isPaused || ports.schedules.put(schedule, intake),
      }),
  },
  {
    name: "a removal of a schedule that is said and not done",
    change: (ports) => withPort(ports, "schedules", { remove: async () => undefined }),
  },
  {
    name: "the slot after the one that is due",
    change: (ports) =>
      withBeginnings(ports, (schedule, cron) => {
        const { next: slot, pending } = schedule;
        if (slot === undefined || pending === undefined) return schedule;
        const next = nextSlot(cron, slot);
        return { ...schedule, pending: slot, ...(next !== undefined && { next }) };
      }),
  },
];

export const scheduleMutations: readonly Mutation[] = planted.map((mutation) => ({
  ...mutation,
  shownBy: "schedules",
}));
