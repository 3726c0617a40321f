/** A bound for a wait. What was waited for goes on; its end is no longer of interest. */
import { type Clock } from "@posthaste/ports";

/**
 * Rejects `ms` after the call. A process that was itself held up finds timer and answer due together: the answer is
 * read before the timer counts.
 */
export function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const callOff = clock.after(ms, () => {
      setImmediate(() => reject(new Error(`no answer within ${ms} ms`)));
    });
    work.finally(callOff).then(resolve, reject);
  });
}
