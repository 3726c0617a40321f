/** `/v2/schedules` (docs/design/schedules). */
import {
  dryRunText,
  parseSchedule,
  scheduleJson,
  type ScheduleListQuery,
  scheduleResultText,
  type schedules as rows,
  type ReadPermit,
} from "@posthaste/contract";
import {
  type Cron,
  fault,
  type Fault,
  isFault,
  looksLikeHost,
  nextSlot,
  scheduleId,
  type TenantId,
} from "@posthaste/domain";
import {
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  type SchedulePorts,
  unknownDestination,
} from "@posthaste/engine";
import {
  type Groups,
  type ScheduleKey,
  type SchedulePlace,
  type Telemetry,
  type Tenant,
} from "@posthaste/ports";
import { groupOf, type ContextOf } from "../parse-context.ts";
import { type TargetHandler } from "../raw-handler.ts";
import { type Paging } from "../paging.ts";
import { type ReadsIn } from "../reads.ts";
import { scheduleListTexts, schedulePage, schedulePages } from "../schedule-texts.ts";
import { statesOfLastSlot } from "../slot-states.ts";
import { inSpan, requestSpan } from "../trace.ts";
import { type Handlers } from "./handler.ts";

export type ScheduleParts = SchedulePorts & {
  readonly paging: Paging;
  readonly reads: ReadsIn;
};

type CreateParts = SchedulePorts & {
  readonly groups: Groups;
  readonly contextOf: ContextOf;
  readonly telemetry: Telemetry;
};

const route = "/v2/schedules/{destination}";

export function createScheduleHandler(parts: CreateParts): TargetHandler {
  const { tracer } = parts.telemetry;
  const create = untracedHandler(parts);
  return (request) => {
    const { req, tenant } = request;
    const asked = { tenant: tenant.id, method: "post", route, rawHeaders: req.rawHeaders };
    return inSpan(tracer, { req, span: requestSpan(tracer, asked) }, () => create(request));
  };
}

function untracedHandler({ contextOf, ...ports }: CreateParts): TargetHandler {
  return async ({ req, tenant, callerIp, target, body }) => {
    const { destination } = target;
    const group = await groupOf(ports.groups, tenant, destination);
    const context = contextOf(tenant, callerIp);
    const asked = parseSchedule({
      ...context,
      rawHeaders: req.rawHeaders,
      queryConfig: target.queryConfig,
      destination,
      ...(group?.headers && { defaultsOf: () => group.headers }),
      body,
    });
    if (isFault(asked)) return asked;
    // A group may be made later, but a name that looks like a host means no group.
    if (destination.kind === "group" && !group && looksLikeHost(destination.name))
      return unknownDestination(destination.name);
    if (asked.isDryRun)
      return { status: 200, text: dryRunText(nextSlots(asked.command.cron, context.now)) };
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

export function scheduleHandlers(ports: ScheduleParts): Handlers<keyof typeof rows> {
  const keyOf = (tenant: Tenant, id: string): ScheduleKey => ({
    tenant: tenant.id,
    id: scheduleId(id),
  });
  const pause = changing((key) => pauseSchedule(ports, key));
  const resume = changing((key) => resumeSchedule(ports, key));

  return {
    listSchedules: async ({ tenant, query }) => listed(ports, tenant.id, query),
    readSchedule: async ({ tenant, param }) => {
      const id = param("scheduleId");
      return {
        status: 200,
        read: async (permit) => {
          const reads = ports.reads(permit);
          const [schedule] = await reads.wholeSchedules([keyOf(tenant, id)]);
          if (!schedule) return fault("not_found", `schedule ${id} not found`);
          const states = await statesOfLastSlot(reads, schedule);
          return { json: scheduleJson(schedule, schedule.body, ports, states) };
        },
      };
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

/**
 * Lists all schedules that follow, read as they are written; or, with `count`, a page whose end is known before its first byte is
 * sent.
 */
function listed(ports: ScheduleParts, tenant: TenantId, { count, ...from }: ScheduleListQuery) {
  const scope = { tenant, list: "schedules", filter: {} };
  const limit = count ?? Infinity;
  const opened = ports.paging.open(scope, {
    ...from,
    limit,
    order: "earliestFirst",
    bodyBytesMax: 0,
  });
  if (isFault(opened)) return opened;
  const after = placeOf(opened.page.after, opened.startAt);
  const read = async (permit: ReadPermit) => {
    const reads = ports.reads(permit);
    if (count === undefined)
      return {
        pieces: scheduleListTexts(reads, ports.sha256, schedulePages(reads, tenant, after)),
      };
    const { shown, next } = await schedulePage(reads, ports.sha256, tenant, { after, count });
    const cursor = ports.paging.seal(scope, opened, next);
    const headers = cursor === undefined ? [] : ["Next-Cursor", cursor];
    return { text: JSON.stringify(shown), headers };
  };
  return { status: 200, read } as const;
}

/** Returns the place after the schedule that a cursor names, or the time at which the list begins. */
function placeOf(
  position: string | undefined,
  startAt: number | undefined,
): SchedulePlace | undefined {
  if (position === undefined)
    return startAt === undefined ? undefined : { createdAt: startAt, id: scheduleId("") };
  const [createdAt = "", id = ""] = position.split(" ");
  return { createdAt: Number(createdAt), id: scheduleId(id) };
}

type Named = { readonly tenant: Tenant; readonly param: (name: "scheduleId") => string };
