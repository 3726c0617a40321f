/** Rings the alarm of a record. Ringing moves the alarm ahead, so ringing twice does no harm. */
import {
  type InState,
  type LiveKind,
  type MessageRecord,
  type MessageState,
  isFinished,
} from "./message.ts";
import { isForeign, stateAtNextGate } from "../lane/gates.ts";
import { alarmOf, alarmOnEntering } from "./alarm.ts";
import { grantMs, ringAheadMs } from "../shared/limits.ts";
import { isTooFarAhead, isLeaseOver, isOver } from "../shared/time.ts";
import { unreachable } from "../shared/unreachable.ts";

/** The write, and the work of the scheduler beside it. `followUp`: the outbox was not cleared in time. */
export type Ringing = {
  readonly next: MessageState;
  readonly wakeAt: number | undefined;
  readonly then: "nothing" | "hint" | "grant" | "admit";
  readonly followUp: boolean;
};

/** `setAheadMs` is by how much the clock was set ahead. */
export function ring(record: MessageRecord, now: number, setAheadMs: number): Ringing {
  const hasOutbox = record.outbox.length > 0;
  const { next, then } = isFinished(record.state)
    ? { next: record.state, then: "nothing" as const }
    : ringLive(record as InState<LiveKind>, now, setAheadMs);
  // A record in a lane of another shard has an alarm that rings once; after that the lane's alarm covers it.
  const alarm = next === record.state ? alarmOf : alarmOnEntering.bind(undefined, record.message);
  return { next, wakeAt: ahead(next, alarm(next, hasOutbox, now), now), then, followUp: hasOutbox };
}

/**
 * Sets an alarm 30 s ahead if it would ring again at once, or if it belongs to a lease of a clock that was ahead and
 * would ring much too late.
 */
const ahead = (
  { kind }: MessageState,
  wakeAt: number | undefined,
  now: number,
): number | undefined =>
  wakeAt !== undefined &&
  (wakeAt <= now || (kind === "claimed" && isTooFarAhead(wakeAt, ringAheadMs, now)))
    ? now + ringAheadMs
    : wakeAt;

/**
 * Returns the gate after the time. The distance between rings of a record that becomes `due` grows, and `pull` finds
 * the record when its hint is dropped.
 */
function goOn({ message }: MessageRecord, now: number): Pick<Ringing, "next" | "then"> {
  const next = stateAtNextGate(message, "time", now, now);
  return { next, then: next.kind === "waiting" ? "grant" : "hint" };
}

function ringLive(
  record: InState<LiveKind>,
  now: number,
  setAheadMs: number,
): Pick<Ringing, "next" | "then"> {
  const { state } = record;
  switch (state.kind) {
    case "held":
      if (state.dueAt > now) return { next: state, then: "nothing" };
      return goOn(record, now);
    case "due":
      if (state.grantUntil !== undefined && isOver(state.grantUntil, grantMs, now))
        return goOn(record, now);
      return { next: { ...state, hints: state.hints + 1 }, then: "hint" };
    case "claimed":
      return {
        next: state,
        then: isLeaseOver(state.leaseUntil, now, setAheadMs) ? "hint" : "nothing",
      };
    case "waiting":
      return { next: state, then: isForeign(record.message, state.flow) ? "grant" : "nothing" };
    case "queued":
      return { next: state, then: "admit" };
    default:
      return unreachable(state);
  }
}
