import { limits, skewMsMax } from "@posthaste/domain";

/** Time as a port: nothing below a process reads a clock or arms a timer of its own. */
export interface Clock {
  /** Unix milliseconds, for what is stored and shown. It may be set at any moment: two readings tell no duration. */
  now(): number;
  /** Milliseconds since some moment of this process, which no setting of a clock moves: for durations, and for deadlines in memory. */
  passedMs(): number;
  /**
   * By how much `now()` was set ahead within the last `limits.leaseMs`: 0 nearly always. A lease that stood before ends by the
   * time before: its owner renews it meanwhile.
   */
  setAheadMs(): number;
  /** Runs `task` once after `ms` (at most an hour: a longer wait is re-armed by its owner). Returns how to call it off. */
  after(ms: number, task: () => void): () => void;
}

/** `Clock.setAheadMs` of two readings: looks at them when it is asked. A change of less than a second is a clock being corrected. */
export function watchSetting(now: () => number, passedMs: () => number): () => number {
  let offsetMs = now() - passedMs();
  let aheadMs = 0;
  let until = 0;
  return () => {
    const passed = passedMs();
    const offset = now() - passed;
    const movedMs = offset - offsetMs;
    offsetMs = offset;
    if (passed >= until) aheadMs = 0;
    if (Math.abs(movedMs) < correctionMsMax) return aheadMs;
    aheadMs = Math.max(0, aheadMs + movedMs);
    until = passed + limits.leaseMs;
    return aheadMs;
  };
}
const correctionMsMax = 1_000;

/** Tells once, to whichever call comes next, by how much `now()` was set back, where clocks that are right disagree by less. Else 0. */
export function watchSetBack(clock: Pick<Clock, "now" | "passedMs">): () => number {
  const offset = (): number => clock.now() - clock.passedMs();
  let highest = offset();
  return () => {
    const current = offset();
    const setBackMs = highest - current;
    const isBack = setBackMs > skewMsMax;
    highest = isBack ? current : Math.max(highest, current);
    return isBack ? setBackMs : 0;
  };
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal?.addEventListener("abort", end);
  });
}

/**
 * Rejects with `late()` when `work` has not ended `ms` after the call. `work` goes on; its end is no longer of interest. A
 * process that was itself held up finds timer and answer due together: the answer is read before the timer counts.
 */
export function within<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let callOff = clock.after(ms, () => {
      callOff = clock.after(0, () => reject(late()));
    });
    work.finally(() => callOff()).then(resolve, reject);
  });
}

/** Resolves when `work` has ended in either way, after `ms` at the latest: whether it has ended. */
export async function endsWithin(
  clock: Clock,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const tooLate = new AbortController();
  const ended = work.then(
    () => true,
    () => true,
  );
  const late = pause(clock, ms, tooLate.signal).then(() => false);
  return Promise.race([ended, late]).finally(() => tooLate.abort());
}
