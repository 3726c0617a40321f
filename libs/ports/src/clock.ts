/** Time: two clocks, waits, and bounds on how long work may take (docs/adr/0120-two-clocks.md). */
import { limits, skewMsMax } from "@posthaste/domain";

/** Time as a port: no code below a process reads a clock or arms a timer of its own. */
export interface Clock {
  /** Unix milliseconds, for times that are stored and shown. The clock may be set at any moment, so two readings give no duration. */
  now(): number;
  /** Milliseconds since some moment of this process, unaffected by setting a clock. For durations and in-memory deadlines. */
  passedMs(): number;
  /**
   * Returns by how many milliseconds `now()` was set ahead within the last `limits.leaseMs`; almost always 0. A lease from before
   * the setting ends by the time before it; its owner renews it meanwhile.
   */
  setAheadMs(): number;
  /** Runs `task` once after `ms` (at most an hour; the owner re-arms a longer wait). Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/**
 * Returns the `Clock.setAheadMs` of two clock readings, which it compares each time it is called. A change of less than a second
 * counts as a clock correction.
 */
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

/**
 * Returns by how much `now()` was set back, once, to the next call that finds it; otherwise 0. Set back means by more than
 * correct clocks differ from each other.
 */
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
 * Rejects with `late()` when `work` has not ended `ms` after the call. `work` continues; its result is ignored. When this process
 * was itself held up, timer and answer are due together, and the answer is read before the timer counts.
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

/** Resolves when `work` has ended in either way, after `ms` at the latest. Reports whether `work` has ended. */
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
