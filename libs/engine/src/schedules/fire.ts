/**
 * Firing: intent, message, done (docs/design/schedules#firing). Each of the three writes may be done twice: the first and
 * the last are conditional on the schedule's version, and the message's id is derived.
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
  type Schedule,
  slotId,
  stopped,
  storedCron,
  unreachable,
  type WholeSchedule,
  agoMs,
} from "@posthaste/domain";
import {
  type Log,
  type Metrics,
  noTelemetry,
  type Schedules,
  type Telemetry,
  type Tenant,
} from "@posthaste/ports";
import { insertMessages, type SlotPorts } from "./messages.ts";
import { type SlotMessage } from "./slot-message.ts";

export type FirePorts = SlotPorts & {
  readonly schedules: Schedules;
  readonly tenants: { get(id: Schedule["tenant"]): Tenant | undefined };
  readonly log: Log;
  readonly telemetry?: Telemetry;
  /** Where it is not that of `limits`. */
  readonly slotLateMsMax?: number;
};

/** So many schedules are fired at once, or as many as their bodies allow. */
const portionMax = 64;
/** Slots of one schedule that are due together: those of `slotLateMs`, and one more. */
const slotsInARowMax = limits.slotLateMs / 60_000 + 2;

/** All slots that are due of `rung`, and those that were under way. What fails rings again. */
export async function fireSchedules(ports: FirePorts, rung: readonly Schedule[]): Promise<void> {
  for (const portion of portionsOf(rung)) {
    let due = portion;
    for (let round = 0; round < slotsInARowMax && due.length > 0; round++)
      due = await fireOnce(ports, due);
  }
}

function portionsOf(schedules: readonly Schedule[]): readonly (readonly Schedule[])[] {
  const portions: Schedule[][] = [];
  let bytes = Infinity;
  for (const schedule of schedules) {
    const last = portions.at(-1);
    bytes += schedule.bodyBytes;
    if (last && last.length < portionMax && bytes <= limits.readBytesMax) last.push(schedule);
    else {
      portions.push([schedule]);
      bytes = schedule.bodyBytes;
    }
  }
  return portions;
}

/** Returns those of which another slot is due. */
async function fireOnce(ports: FirePorts, due: readonly Schedule[]): Promise<readonly Schedule[]> {
  const begun = await begin(ports, due);
  if (begun.length === 0) return [];
  const slots = await underWay(ports, begun);
  const outcomes = await insertMessages(ports, slots);
  const ended = await end(ports, slots, outcomes);
  const now = ports.clock.now();
  return ended.filter(({ isPaused, next = Infinity }) => !isPaused && next <= now);
}

/** The first write. Returns the schedules that have a slot under way. */
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
    // Another scheduler was faster, or a caller has changed it.
    if (!written[i]) continue;
    if (skipped > 0) tellSkipped(ports, schedule, skipped);
    if (slot === undefined) continue;
    metricsOf(ports).observe(
      "posthaste_schedule_lateness_seconds",
      agoMs(slot, Infinity, now) / 1_000,
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
    // Its zone may be none to this build any more. Either way nothing is to ring, until a caller comes.
    log.warn("schedule.stopped", { tenant: schedule.tenant, schedule: schedule.id });
    return { schedule: stopped(schedule, now), skipped: 0 };
  }
  // What rings is due by the store's clock: to one that is behind it would come again at once, and again.
  const dueBy = Math.max(now, schedule.next ?? now);
  const firing = firingOf(schedule, cron, dueBy, slotLateMsMax);
  switch (firing.kind) {
    case "repeat":
      return "repeat";
    case "advance":
      return firing;
    default:
      return unreachable(firing);
  }
}

function tellSkipped(ports: FirePorts, schedule: Schedule, skipped: number): void {
  metricsOf(ports).count("posthaste_schedule_slots_total", "skipped", skipped);
  ports.log.warn("schedule.skipped", { tenant: schedule.tenant, schedule: schedule.id, skipped });
}

/** As they are now, bodies and all: one that was replaced since fires as it is, one that was removed does not. */
async function underWay(
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

/** So often a caller may have changed a schedule while its slot is ended; then the alarm ends it. */
const endTriesMax = 3;

/** The last write. Returns the schedules that were ended. */
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
