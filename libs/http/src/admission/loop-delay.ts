/**
 * Measures how late timers fire, with ten timers a second while requests come and none otherwise. Node's own histogram ticks for ever,
 * and drops the tick that a reset falls into, which is the late one.
 */
import { type Clock } from "@posthaste/ports";

type LoopDelay = {
  /** Keeps watching for a while. Must be called when there is work. */
  watch(): void;
  /** Returns the worst delay since the last call. */
  takeMs(): number;
  close(): void;
};

const everyMs = 100;

export function createLoopDelay(clock: Clock): LoopDelay {
  let worstMs = 0;
  let wanted = false;
  let callOff: (() => void) | undefined;

  function arm(): void {
    wanted = false;
    const dueAt = clock.passedMs() + everyMs;
    callOff = clock.after(everyMs, () => {
      worstMs = Math.max(worstMs, clock.passedMs() - dueAt);
      if (wanted) arm();
      else callOff = undefined;
    });
  }

  return {
    watch: () => {
      wanted = true;
      if (!callOff) arm();
    },
    takeMs: () => {
      const takenMs = worstMs;
      worstMs = 0;
      return takenMs;
    },
    close: () => {
      callOff?.();
      callOff = undefined;
    },
  };
}
