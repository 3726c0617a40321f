/**
 * One mechanism for lost replies, short outages and elections: the call is made again with the same arguments, so every
 * task must be one whose repetition is safe. The driver's own retries are off; they leave out `updateMany` and
 * `deleteMany`.
 */
import { type Clock, type Random, StoreError } from "@posthaste/ports";
import { isPassing, portError } from "./failures.ts";

export type Again = <T>(task: () => Promise<T>) => Promise<T>;

/** Gives up when a try has failed `patienceMs` after the call began; a try itself is bounded by the driver's timeouts. */
export function createAgain(clock: Clock, random: Random, patienceMs: number): Again {
  return async (task) => {
    const until = clock.now() + patienceMs;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, waitMsMax)) {
      try {
        return await task();
      } catch (error) {
        if (!isPassing(error) || clock.now() + waitMs > until) throw portError(error);
      }
      const jittered = waitMs * (0.5 + random.fraction() / 2);
      await new Promise<void>((resolve) => clock.after(jittered, resolve));
    }
  };
}

const firstWaitMs = 20;
const waitMsMax = 500;

/** Before the first contact nothing is tried at all. */
export const notYetOpen = (why: string | undefined): StoreError =>
  new StoreError("unavailable", why ?? "the documents are not open yet");
