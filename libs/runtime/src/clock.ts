import { type Clock } from "@posthaste/ports";

/** `Clock.after` waits no longer than this: `setTimeout` fires at once beyond 2^31 ms, and sleeping hosts drift. */
export const waitMsMax = 3_600_000;

/** The system's clock. With `unref` its timers do not keep the process alive. */
export function systemClock(options: { readonly unref?: boolean } = {}): Clock {
  return {
    now: () => Date.now(),
    after: (ms, task) => {
      const timer = setTimeout(task, Math.min(Math.max(ms, 0), waitMsMax));
      if (options.unref) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}
