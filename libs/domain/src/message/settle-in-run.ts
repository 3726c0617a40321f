/** Settles the messages of a run: deliveries to its endpoint, its calls to third parties, and calls of its failure function. */
import { isCallOfRun, isStart } from "../workflow/delivery.ts";
import { roundOf } from "../workflow/failure-function.ts";
import { isMarked } from "../workflow/marks.ts";
import { type FailureReason, type RunItem } from "./follow-up.ts";
import { type InState } from "./message.ts";
import { type Outcome } from "./outcome.ts";
import { type EndedAttempt, explanation, settlement, type Settlement } from "./settlement.ts";

export function settleSuccessInRun(record: InState<"claimed">, attempt: EndedAttempt): Settlement {
  const { message } = record;
  const { dialect, run } = message;
  const { outcome } = attempt;
  if (isCallOfRun(message)) return ended(record, attempt, "delivered", { says: "called" });
  if (callsFailureFunction(record)) return ended(record, attempt, "delivered", { says: "told" });
  if (isStrange(record, outcome))
    return ended(record, attempt, "failed", {
      says: "failed",
      reason: "not_a_workflow",
      error: notAWorkflow[run?.detects ?? "client"],
    });
  const isOfWorkflow = outcome.kind === "answered" && isMarked(dialect, outcome.headers);
  return run && isStart(run) && !isOfWorkflow
    ? unmarked(record, attempt.endedAt)
    : implied(record, attempt.endedAt);
}

/** Settles a failure that is final. Only the endpoint decides what a failed call to a third party means. */
export function settleFailureInRun(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  reason: FailureReason,
): Settlement {
  if (isCallOfRun(record.message)) return ended(record, attempt, "failed", { says: "called" });
  const says = callsFailureFunction(record) ? "told" : "failed";
  return ended(record, attempt, "failed", { says, reason });
}

/**
 * Settles a delivery that its run no longer wants. If the start was claimed before, its answer is not known, so the
 * start counts as unmarked, unless its client demands that a workflow answers, where marks are expected all the same.
 */
export function settleUnwanted(record: InState<"claimed">, now: number): Settlement {
  const { run } = record.message;
  return run && isStart(run) && run.detects === undefined && record.epoch > 1
    ? unmarked(record, now)
    : implied(record, now);
}

const ended = (
  record: InState<"claimed">,
  { endedAt, outcome }: EndedAttempt,
  kind: "delivered" | "failed",
  said: Pick<RunItem, "says" | "reason" | "error">,
): Settlement =>
  settlement(record, { kind, endedAt }, [
    { kind: "run", attempt: record.retried, endedAt, ...explanation(outcome), ...said },
  ]);

/** Settles a delivery whose success is also shown by the parts of the run that it has caused. */
const implied = (record: InState<"claimed">, now: number): Settlement => ({
  ...settlement(record, { kind: "delivered", endedAt: now }, []),
  isImplied: true,
});

/** Settles a start whose answer lacks the mark of a workflow, or is not known. */
const unmarked = (record: InState<"claimed">, endedAt: number): Settlement =>
  settlement(record, { kind: "delivered", endedAt }, [
    { kind: "run", says: "unmarked", attempt: record.retried, endedAt },
  ]);

const callsFailureFunction = ({ message: { run } }: InState<"claimed">): boolean =>
  run !== undefined && roundOf(run.part) !== undefined;

/** Reports whether the start of a run was answered without the mark of a workflow, or by a workflow that its caller may not start. */
function isStrange({ message: { dialect, run } }: InState<"claimed">, outcome: Outcome): boolean {
  if (run?.detects === undefined || outcome.kind !== "answered") return false;
  if (!isMarked(dialect, outcome.headers)) return true;
  const sdk = outcome.headers.find(([name]) => name.toLowerCase() === `${dialect}-workflow-sdk`);
  return run.detects === "request" && !sdkOfRequests.test(sdk?.[1] ?? "");
}

/** A start by a request needs an SDK of 1.0 or later at its endpoint. */
const sdkOfRequests = /^v[1-9]/i;

/** Texts that clients know. */
const notAWorkflow = {
  client:
    "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint",
  request: "trigger rest api is only usable with sdk versions after v1.0.0 major version",
} as const;
