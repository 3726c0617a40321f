/** Ringing: what the alarm of a record says when its time has come. Moves the alarm ahead, so that ringing twice does no harm. */
import {
  type InState,
  type LiveKind,
  type MessageRecord,
  type MessageState,
  isFinished,
} from "./message.ts";
import { alarmOf } from "./alarm.ts";
import { ringAheadMs } from "../shared/limits.ts";
import { unreachable } from "../shared/unreachable.ts";

/** What to do beside the write. `followUp`: the outbox was not cleared in time. */
export type Rung = {
  readonly next: MessageState;
  readonly wakeAt: number | undefined;
  readonly then: "nothing" | "hint" | "grant" | "expand";
  readonly followUp: boolean;
};

export function ring(record: MessageRecord, now: number): Rung {
  const hasOutbox = record.outbox.length > 0;
  const { next, then } = isFinished(record.state)
    ? { next: record.state, then: "nothing" as const }
    : ringLive(record as InState<LiveKind>, now);
  return { next, wakeAt: ahead(alarmOf(next, hasOutbox, now), now), then, followUp: hasOutbox };
}

/** An alarm that has just rung must not ring again at once. */
const ahead = (wakeAt: number | undefined, now: number): number | undefined =>
  wakeAt !== undefined && wakeAt <= now ? now + ringAheadMs : wakeAt;

function ringLive(record: InState<LiveKind>, now: number): Pick<Rung, "next" | "then"> {
  const { state } = record;
  switch (state.kind) {
    case "held":
      if (state.dueAt > now) return { next: state, then: "nothing" };
      if (record.message.flowLane) return { next: { kind: "waiting" }, then: "grant" };
      // It becomes `due`: rings at growing distances from now on, and is found by `pull` when its hint is dropped.
      return { next: { kind: "due", hints: 0 }, then: "hint" };
    case "due":
      if (state.grantUntil !== undefined && state.grantUntil <= now)
        return { next: { kind: "waiting" }, then: "grant" };
      return { next: { ...state, hints: state.hints + 1 }, then: "hint" };
    case "claimed":
      return { next: state, then: state.leaseUntil <= now ? "hint" : "nothing" };
    case "waiting":
      return { next: state, then: "nothing" };
    case "expanding":
      return { next: state, then: "expand" };
    default:
      return unreachable(state);
  }
}
