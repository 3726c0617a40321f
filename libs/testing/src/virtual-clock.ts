/**
 * A clock that only the test moves. Owns every timer armed through it.
 *
 * (1) Timers run in order of their time, then in the order in which they were armed.
 * (2) `now()` is a timer's own time while it runs, never later.
 * (3) All effects of a timer have come to rest before the next timer runs, so a run repeats exactly.
 */
import assert from "node:assert/strict";
import { type Clock, watchSetting } from "@posthaste/ports";

/** 2026-01-01T00:00:00Z: any fixed time would do, and a plausible one reads better in a failure. */
export const epochStart = 1_767_225_600_000;

export type VirtualClock = Clock & {
  /** Sets `now()` by `ms`, ahead or back. Armed timers do not move. */
  readonly set: (ms: number) => void;
  /** Moves time ahead by `ms`, and runs the timers that fall due on the way. */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves time from timer to timer until none is armed; refuses to continue for more than `msMax`. */
  readonly runUntilIdle: (msMax: number) => Promise<void>;
  /** Timers armed and not yet run: a test ends with none. */
  readonly armed: number;
};

/** The port's own bound: a longer wait is re-armed by its owner. */
const afterMsMax = 3_600_000;

type Timer = { readonly at: number; readonly task: () => void };

/** `rest` resolves when all effects of a timer have come to rest. */
export function virtualClock(startAt = epochStart, rest = turns): VirtualClock {
  let now = startAt;
  let setMs = 0;
  /** Sorted with the next timer last, so that it is removed from the end. */
  const timers: Timer[] = [];

  const arm = (ms: number, task: () => void): (() => void) => {
    assert(ms >= 0 && ms <= afterMsMax, `a timer of ${ms} ms: 0 to ${afterMsMax} are allowed`);
    const timer: Timer = { at: now + ms, task };
    timers.splice(placeFor(timer.at, timers), 0, timer);
    return () => {
      const place = timers.lastIndexOf(timer);
      if (place >= 0) timers.splice(place, 1);
    };
  };

  const runUntil = async (end: number): Promise<void> => {
    await turns();
    for (let first = timers.at(-1); first && first.at <= end; first = timers.at(-1)) {
      timers.pop();
      now = Math.max(now, first.at);
      first.task();
      await rest();
    }
    now = Math.max(now, end);
  };

  const told = (): number => now + setMs;
  const passedMs = (): number => now - startAt;
  return {
    now: told,
    passedMs,
    setAheadMs: watchSetting(told, passedMs),
    set: (ms) => void (setMs += ms),
    after: arm,
    advance: (ms) => {
      assert(ms >= 0, `time does not run backwards: ${ms} ms`);
      return runUntil(now + ms);
    },
    runUntilIdle: async (msMax) => {
      const end = now + msMax;
      await turns();
      for (let first = timers.at(-1); first; first = timers.at(-1)) {
        assert(first.at <= end, `${timers.length} timers are still armed after ${msMax} ms`);
        await runUntil(first.at);
      }
    },
    get armed() {
      return timers.length;
    },
  };
}

/** Returns the place after all timers that run later, and before all that run at the same time or sooner. */
function placeFor(at: number, timers: readonly Timer[]): number {
  let [low, high] = [0, timers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timers[middle]?.at ?? 0) > at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the same clock, with an `armed` that counts the timers that were armed through this view of it. */
export function withOwnTimers(clock: VirtualClock): VirtualClock {
  const armed = new Set<symbol>();
  return {
    ...clock,
    after: (ms, task) => {
      const timer = Symbol("timer");
      armed.add(timer);
      const disarm = clock.after(ms, () => {
        armed.delete(timer);
        task();
      });
      return () => {
        armed.delete(timer);
        disarm();
      };
    },
    get armed() {
      return armed.size;
    },
  };
}

/** Microtasks drain before the event loop turns; these turns let code rest that hands over by `setImmediate` a few times. */
const restTurns = 4;
async function turns(): Promise<void> {
  for (let turn = 0; turn < restTurns; turn++)
    await new Promise((resolve) => setImmediate(resolve));
}
