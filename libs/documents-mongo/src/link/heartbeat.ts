/** Checks once a second whether the server answers, and logs when that changes. */
import { type Clock, type Log } from "@posthaste/ports";

export type Heartbeat = {
  readonly problem: () => string | undefined;
  readonly stop: () => Promise<void>;
};

export type HeartbeatOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: string;
  readonly explain: ((error: unknown) => string | undefined) | undefined;
};

/** Starts the checks, the first at once. `look` rejects when the server does not answer as it should. */
export function startHeartbeat(
  { clock, log, database, explain }: HeartbeatOptions,
  look: () => Promise<void>,
): Heartbeat {
  let up: boolean | undefined;
  let problem: string | undefined = "not connected yet";
  let stopped = false;
  let cancel = (): void => undefined;

  const change = (isUp: boolean, error?: unknown): void => {
    if (up === isUp || stopped) return;
    up = isUp;
    if (isUp) log.info("documents.up", { database });
    else log.warn("documents.down", { database, reason: problem, error });
  };
  const beat = async (): Promise<void> => {
    try {
      await look();
      problem = undefined;
      change(true);
    } catch (error) {
      problem = explain?.(error) ?? firstLineOf(error);
      change(false, error);
    }
    if (!stopped) cancel = clock.after(everyMs, beatAgain);
  };
  let beating = beat();
  const beatAgain = (): void => void (beating = beat());

  return {
    problem: () => problem,
    stop: async () => {
      stopped = true;
      cancel();
      await beating;
    },
  };
}

const everyMs = 1_000;

const firstLineOf = (error: unknown): string =>
  (Error.isError(error) ? error.message : String(error)).split("\n", 1)[0] ?? "";
