/** Failed attempts of a run's deliveries, as readers of the run see them. */
import { type Answer, type AttemptFact, type Run } from "@posthaste/domain";
import { attemptErrorText } from "../representations/attempt-error.ts";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { type attemptErrorSchema, bodyOfRun, textIn } from "./run-step.ts";

export type AttemptErrorJson = JsonOf<typeof attemptErrorSchema>;

export function attemptError(
  run: Run,
  { endedAt, error, response }: AttemptFact,
  view: ReadView,
): AttemptErrorJson {
  const { body, headers = [], status = 0 } = response ?? {};
  const shown = textIn(bodyOfRun(run, body, view));
  return shownError(run, { body: shown, error, headers, status, time: endedAt }, view);
}

type Failed = Pick<Answer, "headers" | "status"> & {
  readonly body: string | undefined;
  readonly error: string | undefined;
  readonly time: number;
};

export const shownError = (
  { plan, url }: Run,
  { body, error, headers, status, time }: Failed,
  { sha256 }: ReadView,
): AttemptErrorJson => ({
  error:
    attemptErrorText({ error, response: { headers, status } }, url, plan.policy.redaction) ??
    `${status}`,
  status,
  headers: readableHeaders(headers, plan.policy.redaction, sha256),
  ...(body !== undefined && { body }),
  time,
});
