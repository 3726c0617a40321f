/**
 * Marks of workflows: workflow clients answer each delivery with the version of the protocol, and a page that a proxy
 * or a host answers in their place has no mark. So a success without the mark does not count if the start was
 * answered with it (docs/design/runs#standing-still).
 */
import { type Headers } from "../message/headers.ts";
import { type Dialect, type InRun, type Message } from "../message/message.ts";
import { type Answer, type Outcome, isSuccess } from "../message/outcome.ts";
import { hasTakenEffect } from "./change.ts";
import { deliveryOf } from "./part-key.ts";
import { changedRun, isActive, type Run, type RunIn } from "./run.ts";

export const protocolVersion = "1";

const markOf = (dialect: Dialect): string =>
  dialect === "service" ? "Service-Workflow-Sdk-Version" : "Upstash-Workflow-Sdk-Version";

export function isMarked(dialect: Dialect, headers: Headers): boolean {
  const mark = markOf(dialect).toLowerCase();
  return headers.some(
    ([name, value]) => name.toLowerCase() === mark && value.trim() === protocolVersion,
  );
}

/** Reports whether an outcome is a success without the mark, of a delivery to the run's endpoint after the start. */
export const lacksMark = (
  { dialect, run }: Pick<Message, "dialect" | "run">,
  outcome: Outcome,
): outcome is Outcome & { readonly kind: "answered" } => {
  if (!run || outcome.kind !== "answered" || !isSuccess(outcome)) return false;
  const role = deliveryOf(run.part)?.role ?? "call";
  return role !== "start" && role !== "call" && !isMarked(dialect, outcome.headers);
};

/** Reports whether a success without the mark leaves the run as it is, by what is now known of its start. */
export function needsMark(run: Run | undefined, { part, root }: InRun): boolean {
  const key = deliveryOf(part);
  if (!run || run.root !== root || !isActive(run) || !key) return false;
  return run.marks === "expected" && !hasTakenEffect(run, key);
}

/** Returns the answer as a failure whose text names the missing mark. */
export const asUnmarked = <A extends Answer>(dialect: Dialect, answer: A) => ({
  ...answer,
  refused: `the answer, of status ${answer.status}, has no header ${markOf(dialect)}: ${protocolVersion}, which the workflow's answer to its start had: something else has answered instead`,
});

/**
 * Returns the run that expects no marks: its start was answered without one, or its answer is not known. Undefined if
 * the run expects none already, or has ended.
 */
export const unmarked = (run: Run): RunIn<"active"> | undefined =>
  isActive(run) && run.marks === "expected" ? changedRun({ ...run, marks: "none" }) : undefined;
