/** Settles the messages of a run: deliveries to its endpoint, its calls to third parties, and calls of its failure function. */
import { isMarked } from "../workflow/marks.ts";
import { type PartKey, partKeyOf } from "../workflow/part-key.ts";
import { type FailureReason, type RunItem } from "./follow-up.ts";
import { type Headers } from "./headers.ts";
import { type Dialect, type InState } from "./message.ts";
import { type EndedAttempt, explanation, settlement, type Settlement } from "./settlement.ts";

export function settleSuccessInRun(record: InState<"claimed">, attempt: EndedAttempt): Settlement {
  const role = roleOf(record);
  if (role === "call") return ended(record, attempt, "delivered", { says: "called" });
  if (role === "told") return ended(record, attempt, "delivered", { says: "told" });
  return role === "start" ? startAnswered(record, attempt) : implied(record, attempt.endedAt);
}

const roleOf = ({ message: { run } }: InState<"claimed">): PartKey["role"] | undefined =>
  run && partKeyOf(run.part)?.role;

/** Settles the start of a run: whether a workflow has answered is known by its mark. */
function startAnswered(record: InState<"claimed">, attempt: EndedAttempt): Settlement {
  const { dialect, run } = record.message;
  const { endedAt, outcome } = attempt;
  const headers = outcome.kind === "answered" ? outcome.headers : [];
  const hasMark = isMarked(dialect, headers);
  if (run?.detects === undefined || (hasMark && mayStart(run.detects, dialect, headers)))
    return hasMark ? implied(record, endedAt) : unmarked(record, endedAt);
  const error = notAWorkflow[run.detects];
  return ended(record, attempt, "failed", { says: "failed", reason: "not_a_workflow", error });
}

/** Reports whether a caller may start this workflow. A request needs an SDK of 1.0 or later at the endpoint. */
function mayStart(by: keyof typeof notAWorkflow, dialect: Dialect, headers: Headers): boolean {
  const sdk = headers.find(([name]) => name.toLowerCase() === `${dialect}-workflow-sdk`);
  return by === "client" || /^v[1-9]/i.test(sdk?.[1] ?? "");
}

/** Settles a failure that is final. Only the endpoint decides what a failed call to a third party means. */
export function settleFailureInRun(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  reason: FailureReason,
): Settlement {
  const role = roleOf(record);
  if (role === "call") return ended(record, attempt, "failed", { says: "called" });
  return ended(record, attempt, "failed", { says: role === "told" ? role : "failed", reason });
}

/**
 * Settles a delivery that its run no longer wants. If the start was claimed before, its answer is not known, so the
 * start counts as unmarked, unless its client demands that a workflow answers, where marks are expected all the same.
 */
export function settleUnwanted(record: InState<"claimed">, now: number): Settlement {
  const { detects } = record.message.run ?? {};
  return roleOf(record) === "start" && detects === undefined && record.epoch > 1
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

/** Texts that clients know. */
const notAWorkflow = {
  client:
    "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint",
  request: "trigger rest api is only usable with sdk versions after v1.0.0 major version",
} as const;
