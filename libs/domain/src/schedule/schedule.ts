/**
 * The record of a schedule. `Schedule` is all but the body, which only its messages need. Every change is a function of this
 * folder that raises `version`; it is written where the stored version is one lower (docs/design/schedules#the-record).
 */
import { type MessageId, type ScheduleId, shardOfSchedule, type TenantId } from "../shared/ids.ts";
import { type PublishCommand } from "../publish/command.ts";
import { ringAheadMs } from "../shared/limits.ts";
import { type Cron } from "./cron.ts";
import { nextSlot } from "./next-slot.ts";

/** The parts of each message of a schedule, beside the slot. `delayMs` counts from the slot. */
type ScheduleTemplate = Omit<
  PublishCommand,
  "tenant" | "body" | "postponement" | "deduplication" | "schedule"
> & { readonly delayMs: number };

/** A schedule as the caller requested it. `text`: the expression as given, trimmed. */
export type ScheduleCommand = {
  readonly tenant: TenantId;
  readonly cron: Cron & { readonly text: string };
  readonly template: ScheduleTemplate;
  readonly body: Uint8Array;
};

export type Schedule = {
  readonly tenant: TenantId;
  readonly id: ScheduleId;
  /** See `isKnownFormat`; absent for format 1. */
  readonly format?: number;
  /** Random, drawn once: a schedule made anew under the id of an old one makes messages with other ids. */
  readonly uid: string;
  readonly shard: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Raised by each write. */
  readonly version: number;
  readonly cron: string;
  readonly template: ScheduleTemplate;
  readonly bodyBytes: number;
  readonly isPaused: boolean;
  /** The next slot. Absent if there is none within eight years. */
  readonly next?: number;
  /** The slot whose message may not have been made yet. */
  readonly pending?: number;
  readonly last?: LastSlot;
  /** The alarm. Absent if there is none. */
  readonly wakeAt?: number;
};

export type WholeSchedule = Schedule & { readonly body: Uint8Array };

/** `messages`: the first `slotMessagesMax` ones. `error`: why there are none. */
export type LastSlot = {
  readonly slot: number;
  readonly messages: readonly MessageId[];
  readonly error?: string;
};

export const scheduleUidLength = 24;

export function newSchedule(
  command: ScheduleCommand,
  id: ScheduleId,
  uid: string,
  now: number,
): WholeSchedule {
  const { tenant } = command;
  const fixed = { tenant, id, uid, shard: shardOfSchedule(tenant, id), createdAt: now, version: 0 };
  return changed(
    { ...fixed, ...settingsOf(command), ...timeOf(command, now), updatedAt: now },
    now,
  );
}

/** Replaces everything that a caller gives, also a pause, but not a slot under way (docs/design/schedules#the-record). */
export function replaced(current: Schedule, command: ScheduleCommand, now: number): WholeSchedule {
  const { next: _, ...kept } = current;
  const from = Math.max(now, lastOf(current));
  return changed(
    { ...kept, ...settingsOf(command), ...timeOf(command, from), updatedAt: now },
    now,
  );
}

export const paused = (current: Schedule, now: number): Schedule =>
  changed({ ...current, isPaused: true, updatedAt: now }, now);

/** Stops a schedule for good: it makes no message any more, not even for the slot under way, and has no alarm. */
export function stopped(current: Schedule, now: number): Schedule {
  const { pending: _, ...rest } = current;
  return paused(rest, now);
}

/** Resumes a schedule. Slots that passed during the pause do not fire. */
export function resumed(current: Schedule, cron: Cron, now: number): Schedule {
  const { next: _, ...kept } = current;
  const from = Math.max(now, lastOf(current));
  return changed({ ...kept, isPaused: false, ...timeOf({ cron }, from), updatedAt: now }, now);
}

/** Raises the version and sets the alarm that the state calls for. */
export function changed<S extends Schedule>(schedule: S, now: number): S {
  const { wakeAt: _, ...rest } = schedule;
  const wakeAt = alarmOfSchedule(schedule, now);
  // TypeScript does not know the rest of a generic type to be that type.
  return { ...(rest as S), version: schedule.version + 1, ...(wakeAt !== undefined && { wakeAt }) };
}

/** A slot under way is checked again soon; a paused schedule has no other alarm. */
function alarmOfSchedule({ pending, isPaused, next }: Schedule, now: number): number | undefined {
  if (pending !== undefined) return now + ringAheadMs;
  return isPaused ? undefined : next;
}

const lastOf = ({ pending, last }: Schedule): number => pending ?? last?.slot ?? 0;

function timeOf({ cron }: Pick<ScheduleCommand, "cron"> | { cron: Cron }, from: number) {
  const next = nextSlot(cron, from);
  return next === undefined ? {} : { next };
}

const settingsOf = ({ cron, template, body }: ScheduleCommand) => ({
  cron: cron.text,
  template,
  body,
  bodyBytes: body.length,
  isPaused: false,
});
