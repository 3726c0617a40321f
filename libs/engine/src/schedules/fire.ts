/**
 * Fires schedules in three writes: intent, message, done (docs/design/schedules#firing). Each write may be repeated: the first
 * and the last are conditional on the schedule's version, and the message's id is derived.
 */
import {
  commandAt,
  type Fault,
  fault,
  fired,
  firingOf,
  isFault,
  type LastSlot,
  limits,
  portionsOf,
  type Schedule,
  slotId,
  stopped,
  storedCron,
  type WholeSchedule,
  elapsedMs,
} from "@posthaste/domain";
import {
  type Log,
  type Metrics,
  noTelemetry,
  type Schedules,
  type Telemetry,
  type Tenant,
} from "@posthaste/ports";
import { insertMessages, type SlotMessage, type SlotPorts } from "./messages.ts";

export type FirePorts = SlotPorts & {
  readonly schedules: Schedules;
  readonly tenants: { get(id: Schedule["tenant"]): Tenant | undefined };
  readonly log: Log;
  readonly telemetry?: Telemetry;
  /** In milliseconds, if it differs from `limits`. */
  readonly slotLateMsMax?: number;
};

/** The number of schedules fired at once, or fewer, as their bodies allow. */
const portionMax = 64;
/** The highest number of slots of one schedule that are due together: those within `slotLateMs`, and one more. */
const slotsInARowMax = limits.slotLateMs / 60_000 + 2;

/** Fires all due slots of `rung`, and the slots that were under way. A schedule that fails rings again. */
export async function fireSchedules(ports: FirePorts, rung: readonly Schedule[]): Promise<void> {
  const bounds = { bytesMax: limits.readBytesMax, countMax: portionMax };
  for (const portion of portionsOf(rung, ({ bodyBytes }) => bodyBytes, bounds)) {
    let due = portion;
    for (let round = 0; round < slotsInARowMax && due.length > 0; round++)
      due = await fireOnce(ports, due);
  }
}

/** Fires one slot of each schedule. Returns the schedules of which another slot is due. */
async function fireOnce(ports: FirePorts, due: readonly Schedule[]): Promise<readonly Schedule[]> {
  const begun = await begin(ports, due);
  if (begun.length === 0) return [];
  const slots = await readPending(ports, begun);
  const outcomes = await insertMessages(ports, slots);
  const ended = await end(ports, slots, outcomes);
  const now = ports.clock.now();
  return ended.filter(({ isPaused, next = Infinity }) => !isPaused && next <= now);
}

/** Makes the first write. Returns the schedules that have a slot under way. */
async function begin(ports: FirePorts, due: readonly Schedule[]): Promise<readonly Schedule[]> {
  const now = ports.clock.now();
  const begun: Schedule[] = [];
  const advancing: Begun[] = [];
  for (const schedule of due) {
    const firing = firingAt(ports, schedule, now);
    if (firing === "repeat") begun.push(schedule);
    else advancing.push(firing);
  }
  const written =
    advancing.length > 0
      ? await ports.schedules.move(advancing.map(({ schedule }) => schedule))
      : [];
  for (const [i, { schedule, slot, skipped }] of advancing.entries()) {
    // Another scheduler was faster, or a caller has changed the schedule.
    if (!written[i]) continue;
    if (skipped > 0) reportSkipped(ports, schedule, skipped);
    if (slot === undefined) continue;
    metricsOf(ports).observe(
      "posthaste_schedule_lateness_seconds",
      elapsedMs(slot, Infinity, now) / 1_000,
    );
    begun.push(schedule);
  }
  return begun;
}

type Begun = {
  readonly schedule: Schedule;
  readonly slot?: number | undefined;
  readonly skipped: number;
};

function firingAt(
  { tenants, log, slotLateMsMax = limits.slotLateMsMax }: FirePorts,
  schedule: Schedule,
  now: number,
): Begun | "repeat" {
  const isOpen = tenants.get(schedule.tenant)?.closedAt === undefined;
  const cron = storedCron(schedule.cron);
  if (!isOpen || isFault(cron)) {
    // The slot under way needs no expression.
    if (isOpen && schedule.pending !== undefined) return "repeat";
    // The tenant is closed, or this build does not know the schedule's time zone any more. Nothing rings until a
    // caller changes the schedule.
    log.warn("schedule.stopped", { tenant: schedule.tenant, schedule: schedule.id });
    return { schedule: stopped(schedule, now), skipped: 0 };
  }
  // A rung schedule is due by the store's clock. By a clock that lags, its slot would not be due, and the schedule would ring
  // again and again.
  const dueBy = Math.max(now, schedule.next ?? now);
  const firing = firingOf(schedule, cron, dueBy, slotLateMsMax);
  return firing.kind === "repeat" ? "repeat" : firing;
}

function reportSkipped(ports: FirePorts, schedule: Schedule, skipped: number): void {
  metricsOf(ports).count("posthaste_schedule_slots_total", "skipped", skipped);
  ports.log.warn("schedule.skipped", { tenant: schedule.tenant, schedule: schedule.id, skipped });
}

/** Reads the schedules again, with bodies: a schedule replaced in the meantime fires as it is now, and a removed one does not fire. */
async function readPending(
  { schedules, ids }: FirePorts,
  begun: readonly Schedule[],
): Promise<readonly SlotMessage[]> {
  const stored = await schedules.get(begun);
  return stored.flatMap((schedule) =>
    schedule?.pending === undefined ? [] : messageOfSlot(schedule, schedule.pending, ids),
  );
}

const messageOfSlot = (
  schedule: WholeSchedule,
  slot: number,
  ids: FirePorts["ids"],
): SlotMessage => ({
  schedule,
  slot,
  id: slotId(ids.positionAt(slot), schedule.uid),
  command: commandAt(schedule, slot),
});

type Ending = { readonly schedule: Schedule; readonly last: LastSlot };

/** The number of times that a caller may change a schedule while its slot is being ended; then the alarm ends the slot. */
const endTriesMax = 3;

/** Makes the last write. Returns the schedules whose slots were ended. */
async function end(
  ports: FirePorts,
  slots: readonly SlotMessage[],
  outcomes: readonly (LastSlot["messages"] | Fault)[],
): Promise<readonly Schedule[]> {
  const ended: Schedule[] = [];
  let open: readonly Ending[] = slots.map(({ schedule, slot }, i) => {
    const outcome = outcomes[i] ?? fault("internal", "no answer for a slot");
    return { schedule, last: lastOf(slot, outcome) };
  });
  for (const { last } of open) count(metricsOf(ports), last);
  for (let tries = 0; tries < endTriesMax && open.length > 0; tries++) {
    const now = ports.clock.now();
    const ending = open.flatMap((each) => {
      const next = fired(each.schedule, each.last, now);
      return next ? [{ ...each, next }] : [];
    });
    if (ending.length === 0) break;
    const written = await ports.schedules.move(ending.map(({ next }) => next));
    ended.push(...ending.filter((_, i) => written[i]).map(({ next }) => next));
    const missed = ending.filter((_, i) => !written[i]);
    const current =
      missed.length > 0 ? await ports.schedules.get(missed.map(({ schedule }) => schedule)) : [];
    open = missed.flatMap(({ last }, i) => {
      const schedule = current[i];
      return schedule ? [{ schedule, last }] : [];
    });
  }
  return ended;
}

const lastOf = (slot: number, outcome: LastSlot["messages"] | Fault): LastSlot =>
  isFault(outcome) ? { slot, messages: [], error: outcome.text } : { slot, messages: outcome };

const metricsOf = ({ telemetry = noTelemetry }: FirePorts): Metrics => telemetry.metrics;

const count = (metrics: Metrics, { error }: LastSlot): void =>
  metrics.count("posthaste_schedule_slots_total", error === undefined ? "fired" : "failed");
