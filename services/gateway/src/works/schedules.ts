/** `/v2/schedules` (docs/design/schedules). */
import {
  dryRunText,
  parseSchedule,
  scheduleJson,
  scheduleResultText,
  type schedules as rows,
} from "@posthaste/contract";
import { type Cron, fault, type Fault, isFault, nextSlot, scheduleId } from "@posthaste/domain";
import { pauseSchedule, putSchedule, resumeSchedule, type SchedulePorts } from "@posthaste/engine";
import { type Groups, type ScheduleKey, type Tenant } from "@posthaste/ports";
import { groupOf, type Judge } from "../judge.ts";
import { type RawWork } from "../raw-door.ts";
import { scheduleListTexts } from "../schedule-texts.ts";
import { type StatePorts, statesOfLastSlot } from "../slot-states.ts";
import { type Works } from "./work.ts";

export type ScheduleParts = SchedulePorts & StatePorts;

type CreateParts = SchedulePorts & {
  readonly groups: Groups;
  readonly judge: Judge;
};

export function createScheduleWork({ judge, ...ports }: CreateParts): RawWork {
  return async ({ req, tenant, callerIp, target, body }) => {
    const { destination } = target;
    const group = await groupOf(ports.groups, tenant, destination);
    const judges = judge(tenant, callerIp);
    const asked = parseSchedule({
      ...judges,
      rawHeaders: req.rawHeaders,
      queryConfig: target.queryConfig,
      destination,
      ...(group?.headers && { defaultsOf: () => group.headers }),
      body,
    });
    if (isFault(asked)) return asked;
    if (asked.isDryRun)
      return { status: 200, text: dryRunText(nextSlots(asked.command.cron, judges.now)) };
    const made = await putSchedule(ports, asked, tenant.plan);
    if (isFault(made)) return made;
    return { status: made.deduplicated ? 202 : 200, text: scheduleResultText(made.id) };
  };
}

const dryRunSlots = 5;

function nextSlots(cron: Cron, now: number): readonly number[] {
  const slots: number[] = [];
  for (let at = nextSlot(cron, now); at !== undefined && slots.length < dryRunSlots;) {
    slots.push(at);
    at = nextSlot(cron, at);
  }
  return slots;
}

export function scheduleWorks(ports: ScheduleParts): Works<keyof typeof rows> {
  const keyOf = (tenant: Tenant, id: string): ScheduleKey => ({
    tenant: tenant.id,
    id: scheduleId(id),
  });
  const pause = changing((key) => pauseSchedule(ports, key));
  const resume = changing((key) => resumeSchedule(ports, key));

  return {
    listSchedules: async ({ tenant }) => ({
      status: 200,
      pieces: scheduleListTexts(ports, tenant.id),
    }),
    readSchedule: async ({ tenant, param }) => {
      const id = param("scheduleId");
      const [schedule] = await ports.schedules.get([keyOf(tenant, id)]);
      if (!schedule) return fault("not_found", `schedule ${id} not found`);
      const states = await statesOfLastSlot(ports, schedule);
      return { status: 200, json: scheduleJson(schedule, schedule.body, ports, states) };
    },
    removeSchedule: async ({ tenant, param }) => {
      await ports.schedules.remove(keyOf(tenant, param("scheduleId")));
      return { status: 200 };
    },
    pauseSchedule: pause,
    pauseScheduleByPost: pause,
    resumeSchedule: resume,
    resumeScheduleByPost: resume,
  };

  function changing(change: (key: ScheduleKey) => Promise<Fault | undefined>) {
    return async ({ tenant, param }: Named) =>
      (await change(keyOf(tenant, param("scheduleId")))) ?? ({ status: 200 } as const);
  }
}

/** A visit whose path names a schedule. */
type Named = { readonly tenant: Tenant; readonly param: (name: "scheduleId") => string };
