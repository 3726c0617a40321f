import { type Clock, watchSetting } from "@posthaste/ports";

/** The longest wait of `Clock.after`: `setTimeout` fires at once beyond 2^31 ms, and sleeping hosts drift. */
export const waitMsMax = 3_600_000;

/** With `unref` the clock's timers do not keep the process alive. */
export function systemClock(options: { readonly unref?: boolean } = {}): Clock {
  const { now } = Date;
  const passedMs = performance.now.bind(performance);
  return {
    now,
    passedMs,
    setAheadMs: watchSetting(now, passedMs),
    after: (ms, task) => {
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), waitMsMax));
      if (options.unref) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

/**
 * Returns a clock that no step of the host's clock moves: the time of its making plus the time passed since. For
 * processes that take the time from their store, and measure by this clock how long they wait for answers.
 */
export function steadyClock(clock: Clock, passedMs = () => performance.now()): Clock {
  const startedAt = clock.now() - passedMs();
  return {
    now: () => Math.round(startedAt + passedMs()),
    passedMs,
    setAheadMs: () => 0,
    after: (ms, task) => clock.after(ms, task),
  };
}
