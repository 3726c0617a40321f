/** After the clock was set back: when what waits of our own accord, a retry mostly, is made after all (docs/adr/0120-two-clocks.md). */
import { aheadFrom, skewMsMax } from "../shared/time.ts";
import { type MessageState } from "./message.ts";

type Held = Extract<MessageState, { kind: "held" }>;

/**
 * Of a record that waits further ahead than it can. `setBackMs`: by how much the clock was set back now; 0 at a start, before which
 * it may have been. Undefined: it stays as it is, as does what waits for a time that its caller named.
 */
export function broughtHome(state: Held, now: number, setBackMs: number): Held | undefined {
  const { dueAt, waitMs } = state;
  if (waitMs === undefined || dueAt <= homeFrom(waitMs, now, setBackMs)) return undefined;
  return { ...state, dueAt: Math.max(now, Math.min(dueAt - setBackMs, now + waitMs)) };
}

/** Records due later than this are brought home. Where the clock is set back now, some would have been due by now. */
const homeFrom = (waitMs: number, now: number, setBackMs: number): number =>
  setBackMs > 0 ? now + (setBackMs - skewMsMax) : aheadFrom(waitMs, now);
