/** The failure of a run: what its endpoint answered last, and what has become of its failure function. */
import {
  answeredPart,
  answerHeadersPart,
  type Headers,
  isFailed,
  type PartName,
  type Progress,
  type Run,
  type RunFailure,
  runMessageId,
  toldPart,
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

const stateNames = {
  running: "CALLBACK_INPROGRESS",
  succeeded: "CALLBACK_SUCCESS",
  failed: "CALLBACK_FAIL",
  canceled: "CALLBACK_CANCELED",
} as const;

/** Undefined: the run has none. */
export function functionState(run: Run): FunctionState | undefined {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  return told && stateNames[told.state];
}

/** Its headers are known by what the failure function is told, or stand for themselves where there is none. */
export function failureAnswer({ parts, run }: Reading): {
  readonly status: number;
  readonly headers: Headers;
} {
  const failed = isFailed(run) ? run.state.failure : undefined;
  const { headers = [] } = (parts.get(toldPart(1)) ?? parts.get(answerHeadersPart))?.answer ?? {};
  return { status: failed?.status ?? 0, headers };
}

/** Of the deliveries of a step the attempts that failed; that by which the run has is known by its failure. */
export function errorsOf(reading: AttemptReading, of: readonly PartName[], view: ReadView) {
  const errors = [...attemptErrors(reading, of), ...lastError(reading, of, view)];
  return errors.length === 0 ? {} : { errors };
}

/** Those of these deliveries, in the order of time. */
const attemptErrors = ({ attempts }: AttemptReading, of: readonly PartName[]) =>
  attempts.filter(({ part }) => of.includes(part)).map(({ error }) => error);

function lastError(reading: Reading, of: readonly PartName[], view: ReadView) {
  const { parts, run } = reading;
  if (!isFailed(run) || !of.includes(run.state.failure.at)) return [];
  const { endedAt } = run.state;
  const error = unansweredReason(run.state.failure);
  const answer = { ...failureAnswer(reading), body: textIn(parts.get("x")?.body) };
  return [shownError(run, { ...answer, error, time: endedAt }, view)];
}

/** Undefined: the answer says what it was. */
const unansweredReason = ({ error, reason, status }: RunFailure): string | undefined =>
  error ?? (status === undefined ? reason : undefined);

/** Why it has failed, where the status of the answer does not say it. */
export const failureError = (reading: Reading): string | undefined =>
  isFailed(reading.run)
    ? attemptErrorText(
        { error: unansweredReason(reading.run.state.failure), response: failureAnswer(reading) },
        reading.run.url,
        reading.run.plan.policy.redaction,
      )
    : undefined;

/** While it is one. */
export const letterJson = (run: Run) =>
  isFailed(run) && run.state.failure.inDlq ? { dlqId: run.state.failure.dlqId } : {};

/** Of a run that has failed: its failure function in its last round. */
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
  const { sent } = parts.get(toldPart(1)) ?? {};
  const { headers, status } = failureAnswer(reading);
  const errors = attemptErrors(reading, [toldPart(told.round)]);
  const standing = progress.get(toldPart(told.round))?.state;
  const failResponse = textIn(parts.get("x")?.body);
  return {
    failureFunction: {
      messageId: runMessageId(root, toldPart(told.round)),
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

/** What the failure function was answered by. An endpoint that has none says so in a header, and its body is not that of a function. */
export function functionAnswer({ parts, run }: Reading, view: ReadView) {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  const part = told && parts.get(answeredPart(told.round))?.answer;
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
