/**
 * How late timers fire. Ten a second while requests come, none while there are none: Node's own histogram ticks for ever,
 * and forgets the tick that a reset falls into, which is the late one.
 */
import { type Clock } from "@posthaste/ports";

export type LoopDelay = {
  /** There is work: keep watching for a while. */
  watch(): void;
  /** The worst delay since it was last asked for. */
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
