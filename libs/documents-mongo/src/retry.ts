/**
 * One mechanism for lost replies, short outages and elections: the call is made again with the same arguments, so every
 * task must be one whose repetition is safe. The driver's own retries are off; they leave out `updateMany` and
 * `deleteMany`.
 */
import { type Clock, type Random, StoreError } from "@posthaste/ports";
import { isAway, isPassing, portError } from "./failures.ts";
import { within } from "./within.ts";

export type Again = <T>(task: () => Promise<T>) => Promise<T>;

export type Patience = {
  /**
   * Gives up when a try has failed `patienceMs` after the call began; a try itself is bounded by the driver's timeouts
   * and, should those fail, by ours. When nobody has been answered for that long, calls are refused untried: they may have waited for others before.
   */
  readonly again: Again;
  /** The server has answered somebody else. */
  readonly answered: () => void;
  /** Why calls are refused untried just now. */
  readonly refusal: () => string | undefined;
};

export function createPatience(clock: Clock, random: Random, patienceMs: number): Patience {
  let awaySince: number | undefined;
  const answered = (): void => {
    awaySince = undefined;
  };

  const refusal = (): string | undefined =>
    awaySince !== undefined && clock.now() - awaySince > patienceMs
      ? "the documents have been away for a while"
      : undefined;

  const attempt = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      const answer = await within(clock, patienceMs * patiencesPerTryMax, task());
      answered();
      return answer;
    } catch (error) {
      if (isAway(error)) awaySince ??= clock.now();
      throw error;
    }
  };

  const again: Again = async (task) => {
    const reason = refusal();
    if (reason !== undefined) throw new StoreError("unavailable", reason);
    const until = clock.now() + patienceMs;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, waitMsMax)) {
      try {
        return await attempt(task);
      } catch (error) {
        if (!isPassing(error) || clock.now() + waitMs > until) throw portError(error);
      }
      const jittered = waitMs * (0.5 + random.fraction() / 2);
      await new Promise<void>((resolve) => clock.after(jittered, resolve));
    }
  };
  return { again, answered, refusal };
}

/** Twice what a socket may be silent for (link.ts). */
export const patiencesPerTryMax = 8;
const firstWaitMs = 20;
const waitMsMax = 500;

/** Before the first contact nothing is tried at all. */
export const notYetOpen = (why: string | undefined): StoreError =>
  new StoreError("unavailable", why ?? "the documents are not open yet");
