import { type Clock, pause } from "@posthaste/ports";

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
