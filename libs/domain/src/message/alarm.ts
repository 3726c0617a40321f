/** Where a record's alarm stands: the whole recovery design in one function (architecture.md §3, I3). */
import { ringAheadMs, ringAheadMsMax } from "../shared/limits.ts";
import { unreachable } from "../shared/unreachable.ts";
import { type MessageState } from "./message.ts";

/** The alarm that a state has on being entered at `now`; a record with an outbox rings within 30 s whatever its state. */
export function alarmOf(state: MessageState, hasOutbox: boolean, now: number): number | undefined {
  const own = ownAlarm(state, now);
  if (!hasOutbox) return own;
  return Math.min(own ?? Number.POSITIVE_INFINITY, now + ringAheadMs);
}

function ownAlarm(state: MessageState, now: number): number | undefined {
  switch (state.kind) {
    case "held":
      return state.dueAt;
    case "waiting":
      return undefined;
    case "due":
      return Math.min(
        now + Math.min(ringAheadMs * 2 ** state.hints, ringAheadMsMax),
        state.grantUntil ?? Infinity,
      );
    case "claimed":
      return state.leaseUntil;
    case "expanding":
      return now;
    case "delivered":
    case "failed":
    case "canceled":
    case "expanded":
      return undefined;
    default:
      return unreachable(state);
  }
}
