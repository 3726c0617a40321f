/**
 * Moves forward messages that wait too long because the clock was set back: those that wait by our own decision, mostly
 * for a retry (docs/adr/0120-two-clocks.md).
 */
import { tooFarAheadAfter, skewMsMax } from "../shared/time.ts";
import { type MessageState } from "./message.ts";

type Held = Extract<MessageState, { kind: "held" }>;

/**
 * Returns the new state of a record that waits further ahead than it can. `setBackMs`: by how much the clock was set
 * back now; 0 at a start, before which it may have been set back. Returns undefined for a record that stays as it is,
 * such as one that waits for a time that its caller set.
 */
export function movedUp(state: Held, now: number, setBackMs: number): Held | undefined {
  const { dueAt, waitMs } = state;
  if (waitMs === undefined || dueAt <= movedUpFrom(waitMs, now, setBackMs)) return undefined;
  return { ...state, dueAt: Math.max(now, Math.min(dueAt - setBackMs, now + waitMs)) };
}

/** Returns the time after which a due time is moved up. If the clock is set back now, some records would be due by now. */
const movedUpFrom = (waitMs: number, now: number, setBackMs: number): number =>
  setBackMs > 0 ? now + (setBackMs - skewMsMax) : tooFarAheadAfter(waitMs, now);
