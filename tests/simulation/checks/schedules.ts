/**
 * C14: the promises of schedules (S1 to S5, docs/design/schedules#invariants), judged by the writes that held, one
 * after another, and by the messages that were made.
 */
import {
  type Cron,
  isFault,
  limits,
  type MessageId,
  nextSlot,
  parentOf,
  parseCron,
  type Schedule,
  slotId,
} from "@posthaste/domain";
import { type Backend } from "../backend.ts";
import { type History, scheduleKeyText, type ScheduleWrite } from "../world/history.ts";
import { pauseMsMax } from "../world/node.ts";

/** Between the look at a clock and the write, a process may stop and a request may be slow. */
const decidedMsMax = pauseMsMax + 45_000;
/** No schedule of a simulation has more slots between two of its writes. */
const slotsMax = 200;

/** A slot that was begun, and how it ended. */
type Begun = {
  readonly write: ScheduleWrite;
  readonly slot: number;
  end: "none" | "ended" | "removed";
};

export function checkSchedules(history: History, backend: Backend): void {
  const begun = new Map<MessageId, Begun>();
  for (const [key, writes] of history.schedules) {
    let before: ScheduleWrite | undefined;
    let underWay: Begun | undefined;
    for (const write of writes) {
      if (write.by === "removal") {
        if (underWay) underWay.end = "removed";
        [before, underWay] = [undefined, undefined];
        continue;
      }
      history.count("scheduleWrites");
      if (before) checkWrite(history, before, write);
      const { pending, uid } = write.schedule;
      if (pending === undefined) {
        if (underWay) underWay.end = "ended";
        underWay = undefined;
      } else if (underWay?.slot !== pending) {
        underWay = { write, slot: pending, end: "none" };
        const id = slotId(backend.ids.positionAt(pending), uid);
        if (begun.has(id))
          history.violate("C14", `S1: ${key} began the slot of ${time(pending)} twice`);
        begun.set(id, underWay);
      }
      before = write;
    }
  }
  history.count("slots", begun.size);
  checkMessages(history, begun);
  checkRests(history, begun);
}

/** S2, S3, S4: each write follows from the one before it. */
function checkWrite(history: History, before: ScheduleWrite, write: ScheduleWrite): void {
  const { schedule: was } = before;
  const { schedule } = write;
  const violate = (text: string): void =>
    history.violate("C14", `${schedule.id} version ${schedule.version}: ${text}`);
  if (schedule.uid !== was.uid || schedule.version !== was.version + 1)
    return violate(`written over version ${was.version}`);
  if (write.by === "caller") {
    if (schedule.pending !== was.pending) violate("S2: a caller's change took the slot under way");
    checkBegunAnew(history, before, write, violate);
    return;
  }
  if (schedule.isPaused !== was.isPaused || schedule.cron !== was.cron)
    violate("a scheduler changed what is the caller's");
  if (was.pending !== undefined) {
    if (schedule.pending !== undefined || schedule.last?.slot !== was.pending)
      violate(`S2: the slot of ${time(was.pending)} was left without its end`);
    if (schedule.next !== was.next) violate("S3: an end moved the next slot");
    return;
  }
  checkAdvance(history, was, write, violate);
}

type Violate = (text: string) => void;

/** S3, S5: a caller's change continues from the moment of its reading, and after every slot that was taken. */
function checkBegunAnew(
  history: History,
  { schedule: was }: ScheduleWrite,
  { schedule, node, at, readAt }: ScheduleWrite,
  violate: Violate,
): void {
  const { next, isPaused } = schedule;
  if (next === undefined || isPaused || next === was.next) {
    const isResumed = was.isPaused && !isPaused;
    if (!isResumed || next === undefined || next > readAt) return;
  }
  const taken = was.pending ?? was.last?.slot ?? -Infinity;
  if (next <= taken) violate(`S3: ${time(next)} comes again`);
  if (next <= readAt && !clockWasWrong(history, node, at))
    violate(`S5: ${time(next)} was past when it was asked for`);
}

/** A slot is begun in its time, and slots before it may be left out. */
function checkAdvance(
  history: History,
  was: Schedule,
  { schedule, node, at }: ScheduleWrite,
  violate: Violate,
): void {
  const { pending, next = Infinity } = schedule;
  if (was.isPaused && pending !== undefined) violate("S5: a slot began while it was paused");
  if (was.next === undefined) return;
  if (pending === undefined && next === was.next && !was.isPaused) violate("written for nothing");
  if (next < was.next) violate(`S3: the next slot went back to ${time(next)}`);
  const slots = slotsBetween(cronOf(was), was.next, next);
  if (pending !== undefined && !slots.includes(pending))
    violate(`${time(pending)} is no slot between ${time(was.next)} and ${time(next)}`);
  if (clockWasWrong(history, node, at)) return;
  if (pending !== undefined && pending > at) violate(`S4: ${time(pending)} began before its time`);
  const latest = slots.at(-1) ?? -Infinity;
  for (const slot of slots) {
    if (slot === pending) continue;
    const isTimely = at - slot <= limits.slotLateMs;
    const isLast = pending === undefined && slot === latest && at - slot <= limits.slotLateMsMax;
    if (isTimely || isLast) violate(`S2: ${time(slot)} was left out, ${at - slot} ms late`);
    else history.count("slotsSkipped");
  }
  if (pending === undefined) return;
  const lateMs = at - decidedMsMax - pending;
  const isLatest =
    pending === latest && (nextSlot(cronOf(was), pending) ?? Infinity) > at - decidedMsMax;
  if (lateMs > (isLatest ? limits.slotLateMsMax : limits.slotLateMs))
    violate(`${time(pending)} was made up ${at - pending} ms late`);
  else if (lateMs > 0) history.count("slotsMadeUp");
}

/** S1, S2, S4: each message of a schedule is that of a begun slot, once and in its time, and each slot has its own. */
function checkMessages(history: History, begun: ReadonlyMap<MessageId, Begun>): void {
  const made = new Set<MessageId>(history.fanOuts.keys());
  for (const [id, lives] of history.lives) {
    const [life] = lives;
    if (life?.record.message.origin.scheduleId === undefined) continue;
    if (life.record.message.origin.callbackOf !== undefined) continue;
    const root = parentOf(id)?.parent ?? id;
    made.add(root);
    const of = begun.get(root);
    if (!of) {
      history.violate("C14", `S1: ${id} is of no slot of its schedule`);
      continue;
    }
    if (lives.length > 1) history.violate("C14", `S1: ${id} was made ${lives.length} times`);
    if (life.at < of.slot && !clockWasWrong(history, of.write.node, life.at))
      history.violate("C14", `S4: ${id} was made before its slot, ${time(of.slot)}`);
  }
  for (const [id, { write, slot, end }] of begun) {
    if (end === "removed" || made.has(id)) continue;
    history.violate("C14", `S2: ${write.schedule.id} has no message of ${time(slot)}: ${end}`);
  }
}

/** S5 as a caller sees it: between the answer and the next change no slot begins that came after the answer. */
function checkRests(history: History, begun: ReadonlyMap<MessageId, Begun>): void {
  for (const { key, from, to } of history.scheduleRests) {
    history.count("scheduleRests");
    for (const { write, slot } of begun.values()) {
      if (scheduleKeyText(write.schedule) !== key || slot <= from) continue;
      if (write.at > from && write.at < to)
        history.violate("C14", `S5: ${key} began ${time(slot)} after its pause or removal`);
    }
  }
}

function slotsBetween(cron: Cron, first: number, before: number): readonly number[] {
  const slots: number[] = [];
  let slot = nextSlot(cron, first - 1);
  while (slot !== undefined && slot < before && slots.length < slotsMax) {
    slots.push(slot);
    slot = nextSlot(cron, slot);
  }
  return slots;
}

function cronOf({ cron }: Schedule): Cron {
  const parsed = parseCron(cron);
  if (isFault(parsed)) throw new Error(parsed.text);
  return parsed;
}

const clockWasWrong = (history: History, node: string, at: number): boolean =>
  history.explains([node], at - decidedMsMax, at, ["clock"]);

const time = (at: number): string => (Number.isFinite(at) ? new Date(at).toISOString() : "never");
