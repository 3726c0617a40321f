import { type Clock } from "@posthaste/ports";

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

const backOffMsMin = 50;
const backOffMsMax = 1_000;

/** Doubling, for the wait after the n-th failure in a row; the first is 0. */
export const backOffMs = (failures: number): number =>
  Math.min(backOffMsMin * 2 ** Math.min(failures, 10), backOffMsMax);
