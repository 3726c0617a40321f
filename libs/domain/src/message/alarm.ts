/** Computes a record's alarm: the whole recovery design in one function (docs/design/record#the-alarm, I3). */
import { isForeign } from "../lane/gates.ts";
import { type LaneKind } from "../lane/lane.ts";
import { ringAheadMs, ringAheadMsMax } from "../shared/limits.ts";
import { unreachable } from "../shared/unreachable.ts";
import { type FollowUp } from "./follow-up.ts";
import { isFinished, type Message, type MessageState } from "./message.ts";

/** The reasons for which an alarm rings. Each source rings within a limit of its own, so that many alarms of one source hold up no other. */
export type AlarmSource = RecordSource | RowSource;
export const recordSources = ["record", "followUp", "fact"] as const;
export type RecordSource = (typeof recordSources)[number];
/** Sources with a table or a collection of their own. */
export const rowSources = ["flow", "queue", "fanOut", "schedule", "bulkAction", "run"] as const;
export type RowSource = (typeof rowSources)[number] | LaneKind;
export const alarmSources: readonly AlarmSource[] = [...recordSources, ...rowSources];

/**
 * Returns the source of a record's alarm: `record` while it is not finished, `followUp` while follow-ups are left, and
 * `fact` when only facts are left, which need the bus.
 */
export function sourceOf(
  state: MessageState,
  outbox: readonly Pick<FollowUp, "kind">[],
): RecordSource {
  if (!isFinished(state)) return "record";
  return outbox.every(({ kind }) => kind === "fact") ? "fact" : "followUp";
}

/**
 * Returns the alarm of a record that enters a state at `now`. A record that joins a line of another shard has an alarm of
 * its own until that alarm rings and sets the lane's, since record and lane are two writes.
 */
export function alarmOnEntering(
  message: Pick<Message, "shard">,
  state: MessageState,
  hasOutbox: boolean,
  now: number,
): number | undefined {
  const isAlone = state.kind === "waiting" && isForeign(message, state.flow);
  return alarmOf(state, hasOutbox || isAlone, now);
}

/** Returns the alarm of a state entered at `now`. A record with an outbox rings within 30 s whatever its state. */
export function alarmOf(state: MessageState, hasOutbox: boolean, now: number): number | undefined {
  const own = ownAlarm(state, now);
  if (!hasOutbox) return own;
  return Math.min(own ?? Number.POSITIVE_INFINITY, now + ringAheadMs);
}

/**
 * Computes from its alarm since when a record without a grant has been due: each ring has set the alarm twice as far
 * ahead, up to the bound.
 */
export function dueSince(hints: number, wakeAt: number): number {
  const doublings = Math.min(hints, doublingsMax);
  const doubledMs = ringAheadMs * (2 ** (doublings + 1) - 1);
  return wakeAt - doubledMs - (hints - doublings) * ringAheadMsMax;
}

const doublingsMax = Math.floor(Math.log2(ringAheadMsMax / ringAheadMs));

function ownAlarm(state: MessageState, now: number): number | undefined {
  switch (state.kind) {
    case "held":
      return state.dueAt;
    case "queued":
    case "waiting":
      return undefined;
    case "due":
      return Math.min(
        now + Math.min(ringAheadMs * 2 ** state.hints, ringAheadMsMax),
        state.grantUntil ?? Infinity,
      );
    case "claimed":
      return state.leaseUntil;
    case "delivered":
    case "failed":
    case "canceled":
      return undefined;
    default:
      return unreachable(state);
  }
}
