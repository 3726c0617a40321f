/** Reports ended attempts to the metrics, to the log of the process, and to `onFailed`. */
import { type MessageRecord, type Outcome, type Settlement } from "@posthaste/domain";
import { StandingRuns } from "@posthaste/engine";
import { type Metrics } from "@posthaste/ports";
import { type Attempt } from "../attempts/attempt.ts";
import { type DelivererPorts } from "../ports.ts";
import { outcomeWord, traceOf } from "../trace.ts";

export type FailedAttempt = {
  readonly record: MessageRecord;
  readonly outcome: Outcome;
  readonly next: Settlement["next"];
};

export type OnFailed = ((failed: FailedAttempt) => void) | undefined;

export class Report {
  readonly #ports: Pick<DelivererPorts, "clock" | "log" | "runs">;
  readonly #metrics: Metrics;
  readonly #failed: OnFailed;
  readonly #standing: StandingRuns;

  constructor(
    ports: Pick<DelivererPorts, "clock" | "log" | "runs">,
    metrics: Metrics,
    failed: OnFailed,
  ) {
    this.#ports = ports;
    this.#metrics = metrics;
    this.#failed = failed;
    this.#standing = new StandingRuns(ports, metrics);
  }

  stop(): void {
    this.#standing.stop();
  }

  ended(attempt: Attempt<"calling">, outcome: Outcome, next: Settlement["next"]): void {
    const { record, state } = attempt;
    const { id, run } = record.message;
    const { log, clock } = this.#ports;
    const word = outcomeWord(outcome);
    this.#count(attempt, word, next, clock.now());
    if (word !== "delivered") this.#failed?.({ record, outcome, next });
    else if (run) this.#standing.answered(run);
    if (outcome.kind === "infrastructure") {
      const { code, text: reason } = outcome;
      log.warn("attempt.deferred", { id, ...traceOf(attempt), code, reason });
    }
    if (!log.debugs) return;
    log.debug("attempt.ended", {
      id,
      ...traceOf(attempt),
      tenant: attempt.tenant,
      retried: record.retried,
      epoch: record.epoch,
      outcome: outcome.kind,
      status: outcome.kind === "answered" ? outcome.status : undefined,
      truncated: outcome.kind === "answered" && outcome.truncated ? true : undefined,
      state: next.kind,
      elapsedMs: clock.passedMs() - state.since,
    });
  }

  #count(
    { record: { epoch, message }, state }: Attempt<"calling">,
    word: ReturnType<typeof outcomeWord>,
    { kind: next }: Settlement["next"],
    endedAt: number,
  ): void {
    const { notBefore, run, trace } = message;
    if (run && epoch === 1) {
      const waitedMs = Math.max(0, state.startedAt - notBefore);
      this.#metrics.observe("posthaste_run_delivery_wait_seconds", waitedMs / 1_000, trace);
    }
    this.#metrics.count("posthaste_attempts_total", word);
    if (next === "delivered" || next === "failed")
      this.#metrics.count("posthaste_messages_ended_total", next);
    if (word === "delivered") {
      const tookMs = endedAt - notBefore;
      this.#metrics.observe("posthaste_delivery_latency_seconds", tookMs / 1_000, trace);
    }
  }
}

/** Returns the outcome of an attempt that failed in this process; the message keeps its retries. */
export const ownFailure = (text: string): Outcome => ({
  kind: "infrastructure",
  code: "internal",
  text,
});
