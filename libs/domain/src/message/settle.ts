/** Settling: the only place where an attempt has consequences (docs/design/record#the-outbox). */
import { stateAtNextGate } from "../lane/gates.ts";
import { type DlqId, dlqIdOf } from "../shared/ids.ts";
import { deferralsMax, leaseLossParts } from "../shared/limits.ts";
import { untilMs } from "../shared/time.ts";
import {
  answerOfFact,
  type AttemptFact,
  type CallbackItem,
  type FailureReason,
  type FollowUp,
} from "./follow-up.ts";
import { keptAnswer } from "./kept-body.ts";
import { type InState } from "./message.ts";
import { type Answer, type Outcome, isSuccess } from "./outcome.ts";
import { backoffMs, deferralMs, requestedWaitMs } from "./retry.ts";
import { settleFailureInRun, settleSuccessInRun } from "./settle-in-run.ts";
import {
  type EndedAttempt,
  type Explanation,
  explanation,
  heldFor,
  settlement,
  type Settlement,
} from "./settlement.ts";

/** The inputs that the pure decision takes from outside: a number in [0, 1), and the value of the caller's expression. */
export type SettleInputs = {
  readonly chance: number;
  readonly retryDelayMs: number | undefined;
  /** The plan of the tenant keeps no bodies. */
  readonly keepsNoBody?: boolean;
};

const nonRetryableStatus = 489;

export function settleAttempt(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  inputs: SettleInputs,
): Settlement {
  const { outcome } = attempt;
  if (outcome.kind === "aborted") return giveBack(record, attempt.endedAt);
  if (outcome.kind === "infrastructure") return defer(record, attempt);
  if (isSuccess(outcome))
    return record.message.run
      ? settleSuccessInRun(record, attempt)
      : deliver(record, attempt, inputs.keepsNoBody);
  const reason = whyFinal(record, outcome);
  return reason ? fail(record, attempt, reason) : retryLater(record, attempt, inputs);
}

function deliver(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  keepsNoBody: boolean | undefined,
): Settlement {
  const { outcome } = attempt;
  const common = commonOf(record, attempt);
  const fact: AttemptFact = {
    kind: "fact",
    id: record.message.id,
    ...common,
    ended: "delivered",
  };
  const next = { kind: "delivered", endedAt: attempt.endedAt } as const;
  const answer =
    outcome.kind === "answered" && !keepsNoBody
      ? keptAnswer(record.message, outcome.body)
      : undefined;
  return {
    ...settlement(record, next, [...callbacks(record, attempt), fact]),
    ...(answer && { answer }),
  };
}

function retryLater(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  inputs: SettleInputs,
): Settlement {
  const { outcome, endedAt } = attempt;
  const asked = outcome.kind === "answered" ? requestedWaitMs(outcome.headers, endedAt) : undefined;
  const delayMs = asked ?? inputs.retryDelayMs ?? backoffMs(record.retried, inputs.chance);
  const next = heldFor(delayMs, endedAt);
  const fact: AttemptFact = {
    kind: "fact",
    id: record.message.id,
    ...commonOf(record, attempt),
    ended: "retry",
    nextDeliveryAt: next.dueAt,
    ...ofFact(explanation(outcome)),
  };
  const items = record.message.run ? [fact] : [...callbacks(record, attempt), fact];
  return {
    ...settlement(record, next, items),
    retried: record.retried + 1,
  };
}

function fail(
  record: InState<"claimed">,
  attempt: EndedAttempt,
  reason: FailureReason,
): Settlement {
  if (record.message.run) return settleFailureInRun(record, attempt, reason);
  const { outcome, endedAt } = attempt;
  const id = dlqIdOf(record.message.id, endedAt);
  const common = commonOf(record, attempt);
  const said = explanation(outcome);
  const items: FollowUp[] = [
    { kind: "deadLetter", attempt: common.attempt, dlqId: id, failedAt: endedAt, reason, ...said },
    ...callbacks(record, attempt),
    ...failureCallback(record, attempt, id),
    { kind: "fact", id: record.message.id, ...common, ended: "failed", ...ofFact(said) },
  ];
  return settlement(record, { kind: "failed", endedAt }, items);
}

/**
 * Ends a message that keeps taking deliverers down as a dead letter, without another attempt
 * (docs/design/record#poisonous-messages).
 */
export function quarantine(record: InState<"claimed">, now: number): Settlement {
  const lost = Math.ceil(record.leaseLosses / leaseLossParts);
  const text = `quarantined: at least ${lost} attempts ended without a report from the process that made them`;
  const outcome: Outcome = { kind: "infrastructure", code: "internal", text };
  return fail(record, { startedAt: now, endedAt: now, outcome }, "quarantined");
}

/**
 * Settles an infrastructure failure: no retry is used and nothing is reported; the log of the service says why. A
 * message that has failed so for an hour, with no attempt between, ends: a message that can never be attempted must
 * not be tried for ever.
 */
function defer(record: InState<"claimed">, attempt: EndedAttempt): Settlement {
  if (record.deferrals >= deferralsMax) return fail(record, deferredForLong(attempt), "deferred");
  const waitMs = deferralMs(record.deferrals);
  return {
    ...settlement(record, heldFor(waitMs, attempt.endedAt), []),
    deferrals: record.deferrals + 1,
  };
}

/**
 * Hands the claim back at once, when the process stops or the lane's slot has ended. No attempt is counted. The
 * deliverer may be unable to send a hint, so the record is held until now instead of due: its alarm rings at once.
 */
export function giveBack(record: InState<"claimed">, now: number): Settlement {
  const next = stateAtNextGate(record.message, "time", now, now);
  return next.kind === "waiting" ? uncounted(record, next) : postpone(record, now, now);
}

/** Hands the claim back until `dueAt`. No attempt is counted. */
export const postpone = (record: InState<"claimed">, now: number, dueAt: number): Settlement =>
  uncounted(record, heldFor(untilMs(dueAt, Infinity, now), now));

function uncounted(record: InState<"claimed">, next: Settlement["next"]): Settlement {
  const { leaseLosses, deferrals } = record;
  return { ...settlement(record, next, []), leaseLosses, deferrals };
}

function deferredForLong(attempt: EndedAttempt): EndedAttempt {
  const { outcome } = attempt;
  if (outcome.kind !== "infrastructure") return attempt;
  const text = `deferred for an hour, no attempt was possible: ${outcome.text}`;
  return { ...attempt, outcome: { ...outcome, text } };
}

function whyFinal(record: InState<"claimed">, outcome: Outcome): FailureReason | undefined {
  if (
    outcome.kind === "answered" &&
    outcome.status === nonRetryableStatus &&
    saysNonRetryable(outcome)
  )
    return "non_retryable";
  return record.retried >= record.message.policy.retriesMax ? "retries_exhausted" : undefined;
}

function saysNonRetryable(answer: Answer): boolean {
  return answer.headers.some(
    ([name, value]) => nonRetryableHeader.test(name) && value.trim().toLowerCase() === "true",
  );
}
const nonRetryableHeader = /^(service|upstash)-nonretryable-error$/i;

const commonOf = (
  { retried }: InState<"claimed">,
  { startedAt, endedAt, outcome }: EndedAttempt,
): Pick<AttemptFact, "answered" | "attempt" | "endedAt" | "startedAt"> => ({
  attempt: retried,
  startedAt,
  endedAt,
  ...(outcome.kind === "answered" && {
    answered: { status: outcome.status, bytes: outcome.body.length },
  }),
});

const ofFact = ({ response, ...said }: Explanation): Explanation =>
  response ? { ...said, response: answerOfFact(response) } : said;

function callbackItem(
  record: InState<"claimed">,
  attempt: EndedAttempt,
): Omit<CallbackItem, "kind"> {
  return {
    attempt: record.retried,
    endedAt: attempt.endedAt,
    retried: record.retried,
    ...explanation(attempt.outcome),
  };
}

function callbacks(record: InState<"claimed">, attempt: EndedAttempt): FollowUp[] {
  return record.message.policy.callback
    ? [{ kind: "callback", ...callbackItem(record, attempt) }]
    : [];
}

function failureCallback(record: InState<"claimed">, attempt: EndedAttempt, id: DlqId): FollowUp[] {
  if (!record.message.policy.failureCallback) return [];
  return [{ kind: "failureCallback", ...callbackItem(record, attempt), dlqId: id }];
}
