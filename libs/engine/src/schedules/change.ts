/**
 * Changes schedules for a caller: reads, decides, and writes under the version; the slower of two writers begins
 * again. A scheduler that fires the schedule is such a writer.
 */
import {
  beyondQuota,
  deduplicationKeyOf,
  type Deduplication,
  fault,
  type Fault,
  isFault,
  messageId,
  newSchedule,
  paused,
  type Plan,
  replaced,
  resumed,
  type Schedule,
  type ScheduleCommand,
  scheduleContent,
  scheduleId,
  type ScheduleId,
  scheduleUidLength,
  type Sha256Hex,
  storedCron,
  type WholeSchedule,
} from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type Random,
  type ScheduleKey,
  type Schedules,
  type TokenStore,
} from "@posthaste/ports";
import { wakeSchedulers } from "../publish/announce.ts";
import { claimKeys, confirmKeys, type FindGone } from "../publish/deduplicate.ts";

export type SchedulePorts = {
  readonly schedules: Schedules;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly sha256: Sha256Hex;
};

/** A schedule to make, or to replace where one with this id exists. */
export type ScheduleGiven = {
  readonly command: ScheduleCommand;
  readonly id?: ScheduleId;
  readonly deduplication?: Deduplication;
};

export type Scheduled = { readonly id: ScheduleId; readonly deduplicated: boolean };

/** The writes lost in a row before the caller is asked to come again. */
const triesMax = 20;

/** Makes or replaces a schedule; durable when it resolves. Rejects when the store does; the outcome is then unknown. */
export async function putSchedule(
  ports: SchedulePorts,
  { command, id, deduplication }: ScheduleGiven,
  plan: Plan,
): Promise<Scheduled | Fault> {
  const own = id ?? scheduleId(`scd_${ports.random.text(scheduleUidLength)}`);
  if (!deduplication) {
    const refused = await put(ports, command, own, plan);
    return refused ?? { id: own, deduplicated: false };
  }
  const key = deduplicationKeyOf(
    command.tenant,
    deduplication,
    "schedule",
    () => scheduleContent(command, ports.sha256),
    ports.sha256,
  );
  // The windows also hold ids of messages; the two never collide, since their keys differ.
  const goneOf: FindGone = async (ids) => {
    const { tenant } = command;
    const found = await ports.schedules.get(ids.map((id) => ({ tenant, id: scheduleId(id) })));
    return new Set(ids.filter((_, i) => found[i] === undefined));
  };
  const claimed = await claimKeys(ports, [{ key, id: messageId(own) }], goneOf);
  if (isFault(claimed)) return claimed;
  const [verdict] = claimed;
  if (!verdict) return fault("internal", "no answer from the deduplication window");
  if (verdict.kind === "duplicate") return { id: scheduleId(verdict.id), deduplicated: true };
  const taken = verdict.kind === "takeOver" ? scheduleId(verdict.id) : own;
  const refused = await put(ports, command, taken, plan);
  if (refused) return refused;
  await confirmKeys(ports, [{ key, id: messageId(taken) }]);
  return { id: taken, deduplicated: false };
}

async function put(
  { bus, clock, random, schedules }: SchedulePorts,
  command: ScheduleCommand,
  id: ScheduleId,
  plan: Plan,
): Promise<Fault | undefined> {
  const { tenant } = command;
  for (let tries = 0; tries < triesMax; tries++) {
    const [current] = await schedules.get([{ tenant, id }]);
    // Schedules made at the same moment may exceed the quota, which is meant to stop millions.
    if (!current && (await schedules.count(tenant)) >= plan.schedulesMax)
      return beyondQuota("maxSchedules", plan.schedulesMax);
    const now = clock.now();
    const next = current
      ? replaced(current, command, now)
      : newSchedule(command, id, random.text(scheduleUidLength), now);
    if (await schedules.put(next, "new")) return void wake(bus, next);
  }
  return changedByMany(id);
}

export const pauseSchedule = (ports: SchedulePorts, key: ScheduleKey): Promise<Fault | undefined> =>
  change(ports, key, (current, now) => (current.isPaused ? current : paused(current, now)));

export const resumeSchedule = (
  ports: SchedulePorts,
  key: ScheduleKey,
): Promise<Fault | undefined> =>
  change(ports, key, (current, now) => {
    const cron = storedCron(current.cron);
    if (!current.isPaused || isFault(cron)) return current;
    return resumed(current, cron, now);
  });

/** Changes a schedule. `decide` returns the same schedule when there is nothing to change. */
async function change(
  { bus, clock, schedules }: SchedulePorts,
  key: ScheduleKey,
  decide: (current: Schedule, now: number) => Schedule,
): Promise<Fault | undefined> {
  for (let tries = 0; tries < triesMax; tries++) {
    const [whole] = await schedules.get([key]);
    if (!whole) return fault("not_found", `schedule ${key.id} not found`);
    const current = withoutBody(whole);
    const next = decide(current, clock.now());
    if (next === current) return undefined;
    if (await schedules.put(next, "accepted")) return void wake(bus, next);
  }
  return changedByMany(key.id);
}

const withoutBody = ({ body: _, ...schedule }: WholeSchedule): Schedule => schedule;

const changedByMany = (id: ScheduleId): Fault =>
  fault("overloaded", `schedule ${id} is being changed by too many calls at once; try again`);

const wake = (bus: EventBus, { shard, wakeAt }: Schedule): void =>
  wakeSchedulers(bus, wakeAt === undefined ? [] : [{ shard, at: wakeAt, source: "schedule" }]);
