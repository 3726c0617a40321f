/** What the attempts of a run's deliveries came to, as its readers see it. */
import {
  type Answer,
  type AttemptFact,
  type PartName,
  type Run,
  type RunAttempt,
} from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { textOf } from "./run-step.ts";

/** Those of these deliveries, in the order of time. */
export const attemptErrors = (
  { attempts, run }: { readonly attempts: readonly RunAttempt[]; readonly run: Run },
  of: readonly PartName[],
  view: ReadView,
) =>
  attempts.filter(({ part }) => of.includes(part)).map(({ fact }) => attemptError(run, fact, view));

function attemptError(run: Run, { endedAt, error, response }: AttemptFact, view: ReadView) {
  const { body, headers = [], status = 0 } = response ?? {};
  return shownError(run, { body, error, headers, status, time: endedAt }, view);
}

type Answered = Pick<Answer, "headers" | "status"> & { readonly body: Uint8Array | undefined };
type Failed = Answered & { readonly error: string | undefined; readonly time: number };

export function shownError(run: Run, { error, time, ...answer }: Failed, view: ReadView) {
  const shown = shownAnswer(run, answer, view);
  return { error: error ?? `${answer.status}`, ...shown, time };
}

/** What an endpoint has answered. */
export function shownAnswer(run: Run, { body, headers, status }: Answered, view: ReadView) {
  const shown = textOf(run, body, view);
  const { redaction } = run.plan.policy;
  return {
    status,
    headers: readableHeaders(headers, redaction, view.sha256),
    ...(shown !== undefined && { body: shown }),
  };
}
