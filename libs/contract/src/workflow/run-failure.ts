/** The failure of a run: what its endpoint answered last, and what has become of its failure function. */
import {
  answeredPart,
  type Headers,
  isFailed,
  type PartName,
  type Run,
  type RunAttempt,
  runMessageId,
  type RunPart,
  toldPart,
} from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { attemptErrors, shownError } from "./run-attempts.ts";
import { headersOf, textOf, writtenJson } from "./run-step.ts";

export const functionStates = [
  "CALLBACK_INPROGRESS",
  "CALLBACK_SUCCESS",
  "CALLBACK_FAIL",
  "CALLBACK_CANCELED",
] as const;
export type FunctionState = (typeof functionStates)[number];

type Reading = {
  readonly run: Run;
  readonly parts: ReadonlyMap<PartName, RunPart>;
};
type AttemptReading = Reading & { readonly attempts: readonly RunAttempt[] };

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

/** Its headers are known by what the failure function is told. */
export function failureAnswer({ parts, run }: Omit<Reading, "records">): {
  readonly status: number;
  readonly headers: Headers;
} {
  const failed = isFailed(run) ? run.state.failure : undefined;
  const told = parts.get(toldPart(1));
  return { status: failed?.status ?? 0, headers: headersOf(told && writtenJson(told)["header"]) };
}

/** Of the deliveries of a step the attempts that failed; that by which the run has is known by its failure. */
export function errorsOf(reading: AttemptReading, of: readonly PartName[], view: ReadView) {
  const errors = [...attemptErrors(reading, of, view), ...lastError(reading, of, view)];
  return errors.length === 0 ? {} : { errors };
}

function lastError(reading: Reading, of: readonly PartName[], view: ReadView) {
  const { parts, run } = reading;
  if (!isFailed(run) || !of.includes(run.state.failure.at)) return [];
  const { endedAt, failure } = run.state;
  const error = failure.error ?? (failure.status === undefined ? failure.reason : undefined);
  const answer = { ...failureAnswer(reading), body: parts.get("x")?.body };
  return [shownError(run, { ...answer, error, time: endedAt }, view)];
}

/** While it is one. */
export const letterJson = (run: Run) =>
  isFailed(run) && run.state.failure.inDlq ? { dlqId: run.state.failure.dlqId } : {};

/** Of a run that has failed: its failure function in its last round. */
export function failureJson(reading: AttemptReading, view: ReadView) {
  const { run, parts } = reading;
  if (!isFailed(run)) return {};
  const { dlqId, function: told } = run.state.failure;
  const state = functionState(run);
  if (!told || !state) return {};
  const { plan, root, url } = run;
  const { sent } = parts.get(toldPart(1)) ?? {};
  const { headers, status } = failureAnswer(reading);
  const errors = attemptErrors(reading, [toldPart(told.round)], view);
  const failResponse = textOf(run, parts.get("x")?.body, view);
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
    },
  };
}

/** What the failure function was answered by. An endpoint that has none says so in a header, and its body is not that of a function. */
export function functionAnswer({ parts, run }: Reading, view: ReadView) {
  const told = isFailed(run) ? run.state.failure.function : undefined;
  const part = told && parts.get(answeredPart(told.round));
  if (!part) return {};
  const { body, headers, status } = writtenJson(part);
  const pairs = pairsOf(headers);
  const hasNone = pairs.some(([name]) => notFoundHeader.test(name));
  const said = new Uint8Array(Buffer.from(typeof body === "string" ? body : "", "base64"));
  const responseBody = hasNone ? undefined : textOf(run, said, view);
  return {
    ...(typeof status === "number" && { responseStatus: status }),
    responseHeaders: readableHeaders(pairs, run.plan.policy.redaction, view.sha256),
    ...(responseBody !== undefined && { responseBody }),
  };
}

const notFoundHeader = /^(service|upstash)-workflow-failure-callback-notfound$/i;

const pairsOf = (value: unknown): Headers =>
  Array.isArray(value)
    ? value.flatMap((pair: unknown): [string, string][] =>
        Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])]] : [],
      )
    : [];
