/** The failure of a run: its endpoint's last answer, and the result of its failure function. */
import {
  type Headers,
  isFailed,
  partOf,
  type PartName,
  type Progress,
  type Run,
  type RunFailure,
  runMessageId,
} from "@posthaste/domain";
import { attemptErrorText } from "../representations/attempt-error.ts";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { shownError } from "./run-attempts.ts";
import { textIn } from "./run-step.ts";
import { type ShownAttempt, type ShownPart } from "./shown-part.ts";

export const functionStates = [
  "CALLBACK_INPROGRESS",
  "CALLBACK_SUCCESS",
  "CALLBACK_FAIL",
  "CALLBACK_CANCELED",
] as const;
export type FunctionState = (typeof functionStates)[number];

type Reading = {
  readonly run: Run;
  readonly parts: ReadonlyMap<PartName, ShownPart>;
};
type AttemptReading = Reading & { readonly attempts: readonly ShownAttempt[] };

const firstTold = partOf({ role: "told", round: 1 });
const answerHeaders = partOf({ role: "failureHeaders" });
const failurePart = partOf({ role: "failure" });

const stateNames = {
  running: "CALLBACK_INPROGRESS",
  succeeded: "CALLBACK_SUCCESS",
  failed: "CALLBACK_FAIL",
  canceled: "CALLBACK_CANCELED",
} as const;

/** Returns undefined for a run without one. */
export function functionState(run: Run): FunctionState | undefined {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  return told && stateNames[told.state];
}

/**
 * Returns the answer that failed the run. The headers are in the part for the failure function, or in a part of their
 * own if there is no failure function.
 */
export function failureAnswer({ parts, run }: Reading): {
  readonly status: number;
  readonly headers: Headers;
} {
  const failed = isFailed(run) ? run.state.failure : undefined;
  const { headers = [] } = (parts.get(firstTold) ?? parts.get(answerHeaders))?.answer ?? {};
  return { status: failed?.status ?? 0, headers };
}

/** Returns the failed attempts of a step's deliveries. The attempt that failed the run is in the run's failure. */
export function errorsOf(reading: AttemptReading, of: readonly PartName[], view: ReadView) {
  const errors = [...attemptErrors(reading, of), ...lastError(reading, of, view)];
  return errors.length === 0 ? {} : { errors };
}

/** Returns the failed attempts of these deliveries, in the order of time. */
const attemptErrors = ({ attempts }: AttemptReading, of: readonly PartName[]) =>
  attempts.filter(({ part }) => of.includes(part)).map(({ error }) => error);

function lastError(reading: Reading, of: readonly PartName[], view: ReadView) {
  const { parts, run } = reading;
  if (!isFailed(run) || !of.includes(run.state.failure.at)) return [];
  const { endedAt } = run.state;
  const error = unansweredReason(run.state.failure);
  const answer = { ...failureAnswer(reading), body: textIn(parts.get(failurePart)?.body) };
  return [shownError(run, { ...answer, error, time: endedAt }, view)];
}

/** Returns undefined if the answer says why. */
const unansweredReason = ({ error, reason, status }: RunFailure): string | undefined =>
  error ?? (status === undefined ? reason : undefined);

/** Returns why the run failed, if the status of the answer does not say. */
export const failureError = (reading: Reading): string | undefined =>
  isFailed(reading.run)
    ? attemptErrorText(
        { error: unansweredReason(reading.run.state.failure), response: failureAnswer(reading) },
        reading.run.url,
        reading.run.plan.policy.redaction,
      )
    : undefined;

/** Returns the dead letter's id, while the run is a dead letter. */
export const letterJson = (run: Run) =>
  isFailed(run) && run.state.failure.inDlq ? { dlqId: run.state.failure.dlqId } : {};

/** Returns the failure function of a failed run, in its last round. */
export function failureJson(
  reading: AttemptReading & { readonly progress: ReadonlyMap<PartName, Progress> },
  view: ReadView,
) {
  const { run, parts, progress } = reading;
  if (!isFailed(run)) return {};
  const { dlqId, function: told } = run.state.failure;
  const state = functionState(run);
  if (!told || !state) return {};
  const { plan, root, url } = run;
  const { sent } = parts.get(firstTold) ?? {};
  const part = partOf({ role: "told", round: told.round });
  const { headers, status } = failureAnswer(reading);
  const errors = attemptErrors(reading, [part]);
  const standing = progress.get(part)?.state;
  const failResponse = textIn(parts.get(failurePart)?.body);
  return {
    failureFunction: {
      messageId: runMessageId(root, part),
      url: sent?.url ?? url,
      state,
      failHeaders: readableHeaders(headers, plan.policy.redaction, view.sha256),
      failStatus: status,
      ...(failResponse !== undefined && { failResponse }),
      ...functionAnswer(reading, view),
      ...(errors.length > 0 && { errors }),
      dlqId,
      maxRetries: sent?.policy.retriesMax ?? plan.policy.retriesMax,
      ...(standing?.kind === "held" && { nextDeliveryTime: standing.dueAt }),
    },
  };
}

/** Returns the answer of the failure function. An endpoint without one says so in a header; its body is then not shown. */
export function functionAnswer({ parts, run }: Reading, view: ReadView) {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  const part = told && parts.get(partOf({ role: "reply", round: told.round }))?.answer;
  if (!part) return {};
  const { body, headers, status } = part;
  const hasNone = headers.some(([name]) => notFoundHeader.test(name));
  const responseBody = hasNone ? undefined : textIn(body);
  return {
    ...(status !== undefined && { responseStatus: status }),
    responseHeaders: readableHeaders(headers, run.plan.policy.redaction, view.sha256),
    ...(responseBody !== undefined && { responseBody }),
  };
}

const notFoundHeader = /^(service|upstash)-workflow-failure-callback-notfound$/i;
