/** Decides which slots of a schedule fire, which fire late, and which are skipped (docs/design/schedules#missed-slots). */
import { cutOff } from "../shared/time.ts";
import { type PublishCommand } from "../publish/command.ts";
import { type MessageId } from "../shared/ids.ts";
import { slotLateMs, slotMessagesMax, slotsCountedMax } from "../shared/limits.ts";
import { type Cron } from "./cron.ts";
import { nextSlot } from "./next-slot.ts";
import { changed, type LastSlot, type Schedule, type WholeSchedule } from "./schedule.ts";

export type Firing =
  /** The message of this slot may or may not have been made: it is made again, under the same id. */
  | { readonly kind: "repeat"; readonly slot: number }
  /** `schedule` is written first; then the message of `slot`, if there is one, is made. */
  | {
      readonly kind: "advance";
      readonly schedule: Schedule;
      readonly slot?: number;
      /** The number of slots that are left out, at most `slotsCountedMax`. */
      readonly skipped: number;
    };

/** `lateMsMax`: see `slotLateMsMax`. */
export function firingOf(schedule: Schedule, cron: Cron, now: number, lateMsMax: number): Firing {
  const { pending, isPaused, next } = schedule;
  if (pending !== undefined) return { kind: "repeat", slot: pending };
  if (isPaused || next === undefined || next > now) return advance(schedule, next, now);
  // The data of time zones may have changed: a time that is no longer a slot does not fire.
  const first = nextSlot(cron, next - 1);
  if (first === undefined) return advance(schedule, first, now);
  const slot = slotAmong(cron, first, now, lateMsMax);
  const skipped = countSlots(cron, first, slot ?? now + 1);
  const upcoming = nextSlot(cron, slot ?? now);
  return advance(schedule, upcoming, now, { ...(slot !== undefined && { slot }), skipped });
}

/** Returns the due slot to fire; `first` is due. Undefined if all due slots are too late. */
function slotAmong(cron: Cron, first: number, now: number, lateMsMax: number): number | undefined {
  const timely = nextSlot(cron, Math.max(first, cutOff(slotLateMs, now)) - 1);
  if (timely !== undefined && timely <= now) return timely;
  let latest: number | undefined;
  let slot = nextSlot(cron, Math.max(first, cutOff(lateMsMax, now)) - 1);
  // Slots are at least a minute apart, so the loop runs at most once per minute of `lateMsMax`.
  while (slot !== undefined && slot <= now) {
    latest = slot;
    slot = nextSlot(cron, slot);
  }
  return latest;
}

function countSlots(cron: Cron, first: number, before: number): number {
  let count = 0;
  let slot: number | undefined = first;
  while (slot !== undefined && slot < before && count < slotsCountedMax) {
    count += 1;
    slot = nextSlot(cron, slot);
  }
  return count;
}

function advance(
  schedule: Schedule,
  upcoming: number | undefined,
  now: number,
  taken: { readonly slot?: number; readonly skipped: number } = { skipped: 0 },
): Firing {
  const { next: _, ...rest } = schedule;
  const { slot, skipped } = taken;
  const next = upcoming === undefined ? {} : { next: upcoming };
  const pending = slot === undefined ? {} : { pending: slot };
  return {
    kind: "advance",
    schedule: changed({ ...rest, ...next, ...pending }, now),
    ...(slot !== undefined && { slot }),
    skipped,
  };
}

/** Records that the slot under way has its message, or will never have one. Returns undefined if another scheduler has ended the slot. */
export function fired(schedule: Schedule, outcome: LastSlot, now: number): Schedule | undefined {
  if (schedule.pending !== outcome.slot) return undefined;
  const { pending: _, ...rest } = schedule;
  const messages: readonly MessageId[] = outcome.messages.slice(0, slotMessagesMax);
  return changed({ ...rest, last: { ...outcome, messages } }, now);
}

export function commandAt(schedule: WholeSchedule, slot: number): PublishCommand {
  const { delayMs, ...template } = schedule.template;
  return {
    ...template,
    tenant: schedule.tenant,
    body: schedule.body,
    schedule: schedule.id,
    ...(delayMs > 0 && { postponement: { kind: "notBefore", at: slot + delayMs } }),
  };
}
