/** The invariants that can be read off the records that an event has written (docs/design/record#the-alarm). */
import { isDerived, isFinished, isIn, type MessageId, type MessageRecord } from "@posthaste/domain";
import { type Model } from "../backend.ts";
import { type Inspection } from "../model/records.ts";
import { type History } from "../world/history.ts";
import { checkTurn, isCovered } from "./queues.ts";
import { type World } from "../world/world.ts";

/** The alarm of an outbox is at most this far ahead (docs/design/record#the-outbox), with half a second for the step's own length. */
const outboxAlarmMsMax = 30_500;
/** How long a publish may run after it has read the lane's row. */
const underWayMsMax = 10_000;

export function everyStep(world: World, history: History, inspect: Inspection): () => void {
  const finished = new Map<MessageId, string>();
  const epochs = new Map<MessageId, number>();
  const last = new Map<MessageId, MessageRecord>();
  const waitingSince = new Map<MessageId, number>();
  return () => {
    for (const id of inspect.takeTouched()) {
      const record = inspect.records.get(id);
      if (!record) {
        checkRemoval(history, id, last.get(id));
        last.delete(id);
        epochs.delete(id);
        waitingSince.delete(id);
        // A publisher that was paused beyond its window may make a random id again (C4 then asks for the cause).
        if (!isDerived(id)) finished.delete(id);
        continue;
      }
      if (!isIn(record, "waiting")) waitingSince.delete(id);
      else if (!waitingSince.has(id)) waitingSince.set(id, world.now);
      if (!last.has(id)) checkPassing(history, inspect, record, waitingSince, world.now);
      last.set(id, record);
      checkAlarm(history, inspect, record, world.now);
      checkTurn(history, inspect, record);
      if (record.epoch < (epochs.get(id) ?? 0))
        history.violate("I4", `the epoch of ${id} went back`);
      epochs.set(id, record.epoch);
      const before = finished.get(id);
      if (before !== undefined && before !== record.state.kind) {
        history.violate("I2", `${id} was ${before} and is ${record.state.kind}`);
      }
      if (isFinished(record.state)) finished.set(id, record.state.kind);
    }
  };
}

/** I3: some alarm rings for every record that is not at its end. */
function checkAlarm(
  history: History,
  inspect: Inspection,
  record: MessageRecord,
  now: number,
): void {
  const { message, state, wakeAt, outbox } = record;
  if (outbox.length > 0 && (wakeAt === undefined || wakeAt > now + outboxAlarmMsMax)) {
    const clockIsWrong = history.faults.some(({ kind }) => kind === "clock");
    if (!clockIsWrong || wakeAt === undefined)
      history.violate("I3", `the outbox of ${message.id} has no alarm near: ${String(wakeAt)}`);
  }
  if (isFinished(state)) return;
  if (state.kind === "queued") {
    if (!isCovered(inspect, state.queue))
      history.violate("I3", `${message.id} is queued and nothing will ring`);
    return;
  }
  const lane = message.flow === undefined ? undefined : inspect.lanes.get(message.flow);
  if (state.kind === "waiting" && lane?.paused) return;
  const rings = state.kind === "waiting" ? lane?.wakeAt : wakeAt;
  if (rings === undefined)
    history.violate("I3", `${message.id} is ${state.kind} and nothing will ring`);
}

/** C25: a record that took its slot by its publish has passed no record in the line of its flow key. */
function checkPassing(
  history: History,
  { records }: Inspection,
  { message, state }: MessageRecord,
  waitingSince: ReadonlyMap<MessageId, number>,
  now: number,
): void {
  const hasSlot = state.kind === "claimed" || state.kind === "due";
  if (message.flow === undefined || !hasSlot) return;
  history.count("slots taken by publishes");
  for (const [id, since] of waitingSince)
    if (since < now - underWayMsMax && records.get(id)?.message.flow === message.flow)
      history.violate("C25", `${message.id} took a slot by its publish while ${id} was in line`);
}

/** I5: a record is removed only when it is finished and has no follow-up left. */
function checkRemoval(history: History, id: MessageId, record: MessageRecord | undefined): void {
  if (!record) return;
  if (!isFinished(record.state))
    history.violate("I5", `${id} was removed while ${record.state.kind}`);
  if (record.outbox.length > 0)
    history.violate("I5", `${id} was removed with ${record.outbox.length} follow-ups to do`);
}

/**
 * I3 of lanes, queues, fan-outs and schedules: while a message waits its lane has an alarm, or is paused; a fan-out has one until it is
 * expanded; a schedule while a slot is under way or to come.
 */
export function checkAlarms(history: History, { inspect, schedules }: Model): void {
  for (const { id, state, wakeAt } of inspect.fanOuts.values()) {
    if (state.kind === "expanding" && wakeAt === undefined)
      history.violate("I3", `the fan-out ${id} is expanding and nothing will ring`);
  }
  for (const { id, paused, wakeAt } of inspect.lanes.values()) {
    if (!paused && wakeAt === undefined && inspect.waitingIn(id) > 0)
      history.violate("I3", `${id} has a line and no alarm`);
  }
  for (const { lane, line } of inspect.queues.values()) {
    if (!lane.paused && lane.wakeAt === undefined && line.size > 0)
      history.violate("I3", `${lane.id} has a line and no alarm`);
  }
  for (const { id, pending, isPaused, next, wakeAt } of schedules()) {
    const rings = pending !== undefined || (!isPaused && next !== undefined);
    if (rings && wakeAt === undefined)
      history.violate("I3", `the schedule ${id} has a slot and no alarm`);
  }
}
