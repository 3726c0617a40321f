/**
 * Repeats calls after lost replies, short outages and elections, always with the same arguments, so repeating a task
 * must be safe. The driver's own retries are off; they leave out `updateMany` and `deleteMany`.
 */
import { type Clock, pause, type Random, StoreError, within } from "@posthaste/ports";
import { isAway, isPassing, portError } from "./failures.ts";

export type Again = <T>(task: () => Promise<T>) => Promise<T>;

export type Patience = {
  /**
   * Makes a call, and gives up when a try has failed `patienceMs` after the call began. A try itself is bounded by
   * the driver's timeouts and, should those fail, by `bounded`. When no call has been answered for that long, calls
   * are refused untried: they may have waited for other calls before.
   */
  readonly again: Again;
  readonly answered: () => void;
  /** Sends a write that shows whether the server accepts any. While it fails, calls are refused likewise, though reads may be answered. */
  readonly probe: (write: () => Promise<void>) => Promise<void>;
  readonly refusal: () => string | undefined;
};

export function createPatience(clock: Clock, random: Random, patienceMs: number): Patience {
  let awaySince: number | undefined;
  let unwrittenSince: number | undefined;
  const answered = (): void => {
    awaySince = undefined;
  };

  const probe = async (write: () => Promise<void>): Promise<void> => {
    const sentMs = clock.passedMs();
    try {
      await write();
      unwrittenSince = undefined;
    } catch (error) {
      unwrittenSince ??= sentMs;
      throw error;
    }
  };

  const isLong = (since: number | undefined): boolean =>
    since !== undefined && clock.passedMs() - since > patienceMs;

  const refusal = (): string | undefined => {
    if (isLong(awaySince)) return "MongoDB has been away for a while";
    return isLong(unwrittenSince) ? "MongoDB has taken no write for a while" : undefined;
  };

  const attempt = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      const answer = await bounded(clock, patienceMs, task());
      answered();
      return answer;
    } catch (error) {
      if (isAway(error)) awaySince ??= clock.passedMs();
      throw error;
    }
  };

  const again: Again = async (task) => {
    const reason = refusal();
    if (reason !== undefined) throw new StoreError("unavailable", reason);
    const until = clock.passedMs() + patienceMs;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, waitMsMax)) {
      try {
        return await attempt(task);
      } catch (error) {
        if (!isPassing(error) || clock.passedMs() + waitMs > until) throw portError(error);
      }
      const jittered = waitMs * (0.5 + random.fraction() / 2);
      await pause(clock, jittered);
    }
  };
  return { again, answered, probe, refusal };
}

/** Bounds the driver's work, since the driver was seen never to end. Work beyond the bound may still take effect. */
export function bounded<T>(clock: Clock, patienceMs: number, work: Promise<T>): Promise<T> {
  const ms = patienceMs * patiencesPerTryMax;
  return within(clock, ms, work, () => silence(ms));
}

/** Twice the longest silence of a socket (clients.ts). */
const patiencesPerTryMax = 8;
/** Has the name of the driver's own time-out, so that the call is repeated. */
const silence = (ms: number): Error =>
  Object.assign(new Error(`no answer for ${ms} ms`), { name: "MongoNetworkTimeoutError" });
const firstWaitMs = 20;
const waitMsMax = 500;

export const notYetOpen = (why: string | undefined): StoreError =>
  new StoreError("unavailable", why ?? "the connection to MongoDB is not open yet");
