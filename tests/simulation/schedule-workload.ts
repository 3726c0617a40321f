/**
 * Clients of schedules, in one of four seeds: each schedule has a client of its own, which pauses, replaces and
 * removes it, often right at a slot; now and then another client replaces it, too. In some of these seeds the whole
 * installation is down for minutes, or for more than an hour.
 */
import { type Schedule, scheduleId } from "@posthaste/domain";
import { type ScheduleGiven } from "@posthaste/engine";
import { type ScheduleKey } from "@posthaste/ports";
import { aCommand, aCron, anotherTenant, aPolicy, aTenant, type Dice } from "@posthaste/testing";
import { type Backend } from "./backend.ts";
import { type Ask, askedOnce, type Gateways } from "./clients.ts";
import { type Composition } from "./composition.ts";
import { type Workload } from "./workload.ts";
import { type Manner, urlOf } from "./world/destination.ts";
import { scheduleKeyText, type ScheduleRest } from "./world/history.ts";
import { type Environment } from "./world/node.ts";

export type ScheduleWorkload = {
  /** When the last change begins, since the beginning. */
  readonly lastAtMs: number;
  start(composed: Composition): void;
  /** Checks after a calm while that no slot was forgotten, and then removes all schedules. */
  end(composed: Composition, backend: Backend): Promise<void>;
};

const minuteMs = 60_000;
const spanMs = 190_000;
/** The time of the changes while the installation is down, and shortly after. */
const afterDownMs = 30_000;
const downMinutes = [4, 20, 80] as const;
const crons = [
  "* * * * *",
  "* * * * *",
  "*/2 * * * *",
  "1-59/3 * * * *",
  "CRON_TZ=Asia/Kathmandu * * * * *",
] as const;
const kind: readonly [Manner, ...Manner[]] = ["good", "good", "slow", "flaky"];
/** Far above the numbers of publishes. */
const opsFrom = 1_000_000;
/** A larger group at each minute shows nothing more. */
const groupMax = 20;
const clientTimeoutMs = 15_000;
/** Long enough for a paused process to continue, and for the alarms of items that a crash has left. */
const calmMs = 120_000;
const wrongByMsMax = 630_000;
const lateMsMax = 60_000;

export function scheduleWorkload(
  { world, history }: Environment,
  chance: Dice,
  groups: Workload["groups"],
  always: boolean,
): ScheduleWorkload {
  const isOn = chance.chance(0.25) || always;
  const isDown = chance.chance(0.35);
  const downMs = isDown ? chance.pick(downMinutes) * minuteMs : 0;
  const keys: readonly ScheduleKey[] = Array.from({ length: chance.integer(2, 4) }, (_, i) => ({
    tenant: i % 2 === 0 ? aTenant : anotherTenant,
    id: scheduleId(`scd_${i}`),
  }));
  /** How far ahead times may be that a wrong clock has set. */
  const wrongByMs = (): number =>
    history.faults.some(({ kind }) => kind === "clock") ? wrongByMsMax : 0;
  const lastAtMs = spanMs + (isDown ? downMs + afterDownMs : 0);
  let ops = 0;

  const draw = ({ tenant, id }: ScheduleKey): ScheduleGiven => {
    const op = opsFrom + ops++;
    const group = groups.find(
      (each) => each.tenant === tenant && each.endpoints.length <= groupMax,
    );
    const url = urlOf(chance.pick(kind), chance.integer(1, 3), `op-${op}`);
    const command = aCommand({
      tenant,
      destination:
        group && chance.chance(0.3) ? { kind: "group", name: group.name } : { kind: "url", url },
      headers: [["Op", String(op)]],
      body: new TextEncoder().encode(`schedule ${op}`),
      policy: aPolicy({ timeoutMs: 15_000, retriesMax: 1, retryDelay: "500" }),
      ...(chance.chance(0.15) && { queue: "timed" }),
    });
    history.templates.set(op, command);
    const { tenant: _, body, ...template } = command;
    const text = chance.pick(crons);
    const delayMs = chance.chance(0.3) ? 3_000 : 0;
    const cron = { ...aCron(text), text };
    return { id, command: { tenant, body, cron, template: { ...template, delayMs } } };
  };

  /** Returns the client of one schedule. `isClear`: no earlier change of it can still take effect. */
  const clientOf = (key: ScheduleKey, gateways: Gateways) => {
    let isClear = true;
    let rest: ScheduleRest | undefined;
    const ask = async (change: Ask<void>, rests: boolean) => {
      if (rest) rest.to = world.now;
      rest = undefined;
      while (!(await once(change))) {
        isClear = false;
        await world.wait(1_000);
      }
      if (!rests || !isClear) return;
      rest = { key: scheduleKeyText(key), from: world.now, to: Infinity };
      history.scheduleRests.push(rest);
    };
    const client = { world, chance, gateways, timeoutMs: clientTimeoutMs };
    const once = async (change: Ask<void>): Promise<boolean> =>
      (await askedOnce(client, change)) !== undefined;
    return {
      put: () => {
        const given = draw(key);
        return ask((gateway) => gateway.putSchedule(given), false);
      },
      pause: () => ask((gateway) => gateway.pauseSchedule(key), true),
      resume: () => ask((gateway) => gateway.resumeSchedule(key), false),
      remove: () => ask((gateway) => gateway.removeSchedule(key), true),
      /** Another client does the same at any moment. */
      beside: () => {
        isClear = false;
        const given = draw(key);
        void once((gateway) => gateway.putSchedule(given));
      },
    };
  };

  /** Half of the time right at a slot. */
  const pauseBetween = async (): Promise<void> => {
    await world.wait(chance.integer(5_000, 50_000));
    if (!chance.chance(0.5)) return;
    const slot = Math.ceil(world.now / minuteMs) * minuteMs;
    await world.wait(slot - world.now + chance.integer(-10, 40));
  };

  const live = async (key: ScheduleKey, gateways: Gateways): Promise<void> => {
    const client = clientOf(key, gateways);
    const goesOn = (): boolean => world.elapsed < lastAtMs;
    await world.wait(chance.integer(0, 30_000));
    await client.put();
    while (goesOn()) {
      await pauseBetween();
      if (!goesOn()) return;
      const draws = chance.integer(0, 9);
      if (draws <= 2) {
        await client.pause();
        await world.wait(chance.integer(1_000, 110_000));
        await client.resume();
      } else if (draws <= 4) await client.put();
      else if (draws <= 6) {
        await client.remove();
        await pauseBetween();
        await client.put();
      } else if (draws === 7) client.beside();
      history.count("scheduleChanges");
    }
  };

  return {
    lastAtMs: isOn ? lastAtMs : 0,
    start: (composed) => {
      if (!isOn) return;
      for (const key of keys) void live(key, () => composed.gateways());
      if (!isDown) return;
      world.after(chance.integer(100_000, spanMs), () => {
        for (const node of composed.nodes) node.goDown(downMs);
      });
    },
    end: async (composed, backend) => {
      if (!isOn) return;
      await world.advance(calmMs + wrongByMs());
      const left = await world.during(backend.schedules.get(keys));
      for (const each of left) if (each) checkTimely(each);
      await world.during(
        Promise.all(keys.map((key) => clientOf(key, () => composed.gateways()).remove())),
      );
    },
  };

  /** S2: holds after any fault. */
  function checkTimely(schedule: Schedule): void {
    const { next = Infinity, pending = Infinity, isPaused } = schedule;
    const due = Math.min(pending, isPaused ? Infinity : next);
    if (due > world.now - lateMsMax) return;
    const text = new Date(due).toISOString();
    history.violate("C14", `${schedule.id} has its slot of ${text} lying about`);
  }
}
