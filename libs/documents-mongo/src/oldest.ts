/** Measures how long the oldest of some calls has been under way. */
import { type Clock } from "@posthaste/ports";

export type Oldest = {
  readonly during: <T>(task: () => Promise<T>) => Promise<T>;
  readonly waitMs: () => number;
};

export function createOldest(clock: Clock): Oldest {
  // The calls, in the order in which they began.
  const begun = new Map<symbol, number>();
  return {
    during: async (task) => {
      const call = Symbol();
      begun.set(call, clock.passedMs());
      try {
        return await task();
      } finally {
        begun.delete(call);
      }
    },
    waitMs: () => {
      const [first] = begun.values();
      return first === undefined ? 0 : clock.passedMs() - first;
    },
  };
}
