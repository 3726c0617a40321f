/** Reports an ended attempt to the metrics. */
import { isSuccess, type MessageRecord, type Outcome, type Settlement } from "@posthaste/domain";
import { type Metrics } from "@posthaste/ports";

/** A failed attempt, as a process may report it. */
export type FailedAttempt = {
  readonly record: MessageRecord;
  readonly outcome: Outcome;
  readonly next: Settlement["next"];
};

type Attempted = { readonly record: MessageRecord; readonly startedAt: number };

export function countAttempt(
  metrics: Metrics,
  { record, startedAt }: Attempted,
  outcome: Outcome,
  { kind: next }: Settlement["next"],
  endedAt: number,
): void {
  const { message, epoch } = record;
  if (message.run && epoch === 1)
    metrics.observe(
      "posthaste_run_delivery_wait_seconds",
      Math.max(0, startedAt - message.notBefore) / 1_000,
      message.trace,
    );
  const word = outcomeWord(outcome);
  metrics.count("posthaste_attempts_total", word);
  if (next === "delivered" || next === "failed")
    metrics.count("posthaste_messages_ended_total", next);
  if (word === "delivered")
    metrics.observe(
      "posthaste_delivery_latency_seconds",
      (endedAt - message.notBefore) / 1_000,
      message.trace,
    );
}

export function outcomeWord(outcome: Outcome) {
  if (outcome.kind !== "answered") return outcome.kind;
  return isSuccess(outcome) ? "delivered" : "refused";
}

/** Returns the outcome of an attempt that this process could not make; the message keeps its retries. */
export const ourFault = (text: string): Outcome => ({
  kind: "infrastructure",
  code: "internal",
  text,
});
