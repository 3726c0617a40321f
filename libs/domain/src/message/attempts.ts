/** The attempts of a message, as its log shows them. */
import { type AttemptFact } from "./follow-up.ts";
import { type LogEvent } from "./log.ts";
import { type Answered } from "./outcome.ts";

type Logged = { readonly event: LogEvent; readonly fact?: AttemptFact };

export type LoggedAttempt = {
  /** Undefined if the log no longer has the beginning. */
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly ended: "delivered" | "failed" | "canceled";
  /** Undefined if no answer came. */
  readonly answered: Answered | undefined;
  /** Present for a failed attempt. */
  readonly fact?: AttemptFact;
};

/** Returns the attempts of one message in the order of its events. A cancellation between two attempts is not an attempt. */
export function attemptsOf(logged: readonly Logged[]): readonly LoggedAttempt[] {
  const byAttempt = Map.groupBy(logged, ({ event }) => event.attempt);
  return [...byAttempt.values()].flatMap((of) => attemptIn(of) ?? []);
}

function attemptIn(logged: readonly Logged[]): LoggedAttempt | undefined {
  const startedAt = logged.find(({ event }) => event.state === "ACTIVE")?.event.at;
  for (const { event, fact } of logged) {
    const common = { startedAt, endedAt: event.at, answered: event.answered ?? fact?.answered };
    if (event.state === "DELIVERED") return { ...common, ended: "delivered" };
    if (event.state === "ERROR") return { ...common, ended: "failed", ...(fact && { fact }) };
    if (event.state === "CANCELED" && startedAt !== undefined)
      return { ...common, ended: "canceled" };
  }
  return undefined;
}
