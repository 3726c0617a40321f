/**
 * Settling: the only place where an attempt has consequences (docs/design/record#the-outbox). One conditional write holds
 * the new state and the follow-ups; a settlement is that write, as data.
 */
import { untilMs } from "../shared/time.ts";
import { type DlqId, dlqIdOf, type MessageId } from "../shared/ids.ts";
import { onward } from "../lane/gates.ts";
import { marksFormat } from "../shared/format.ts";
import { deferralsMax, leaseLossParts } from "../shared/limits.ts";
import { isCallOfRun, isStart } from "../workflow/delivery.ts";
import { roundOf } from "../workflow/failure-function.ts";
import { isMarked } from "../workflow/marks.ts";
import { alarmOnEntering, type RecordSource, sourceOf } from "./alarm.ts";
import {
  answerOfFact,
  type CallbackItem,
  type AttemptFact,
  type FailureReason,
  type FollowUp,
  type RunFailureReason,
} from "./follow-up.ts";
import { keptOfAnswer } from "./kept-body.ts";
import { type InState, type Message, type MessageState } from "./message.ts";
import { type Answer, type Outcome, isSuccess } from "./outcome.ts";
import { backoffMs, deferralMs, requestedWaitMs } from "./retry.ts";

/** Written where `{id, epoch, claimed}` still holds; `append` is added to the outbox. */
export type Settlement = {
  readonly message: Message;
  readonly epoch: number;
  readonly next: Exclude<MessageState, { kind: "queued" | "claimed" }>;
  readonly wakeAt: number | undefined;
  /** The source of that alarm, as far as the claimer knows what else is in the outbox. */
  readonly source: RecordSource;
  readonly retried: number;
  readonly leaseLosses: number;
  readonly deferrals: number;
  readonly append: readonly FollowUp[];
  /** The kept part of the answer that delivered the message. */
  readonly answer?: Uint8Array;
  /** Another durable write says the same: a settle that a crash undoes is made again without another call. */
  readonly isImplied?: true;
};

/**
 * Returns the fact of a delivery that only the log has to hear of: a store that keeps the log apart may end the record with
 * an empty outbox, and its settler then owes the log this fact. Undefined for a message with redactions: its fact is told
 * redacted, which no sweep could do.
 */
export function owedToLog({ message, next, append }: Settlement): AttemptFact | undefined {
  const [fact, ...others] = append;
  if (fact?.kind !== "fact" || others.length > 0 || next.kind !== "delivered") return undefined;
  return message.run || message.policy.redaction ? undefined : fact;
}

/** Returns what a sweep knows of that fact once its settler is gone: when the record ended, not when its call began. */
export const owedFact = (id: MessageId, attempt: number, endedAt: number): AttemptFact => ({
  kind: "fact",
  id,
  attempt,
  startedAt: endedAt,
  endedAt,
  ended: "delivered",
});

export type Attempt = {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
};

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
  attempt: Attempt,
  inputs: SettleInputs,
): Settlement {
  const { outcome } = attempt;
  if (outcome.kind === "aborted") return giveBack(record, attempt.endedAt);
  if (outcome.kind === "infrastructure") return defer(record, attempt);
  if (isSuccess(outcome))
    return isStrange(record, outcome)
      ? failStrange(record, attempt)
      : deliver(record, attempt, inputs.keepsNoBody);
  const reason = whyFinal(record, outcome);
  return reason ? fail(record, attempt, reason) : retryLater(record, attempt, inputs);
}

function deliver(
  record: InState<"claimed">,
  attempt: Attempt,
  keepsNoBody: boolean | undefined,
): Settlement {
  const { outcome } = attempt;
  // The parts of a run that the delivery has caused say that it succeeded.
  if (isCallOfRun(record.message)) return called(record, attempt, "delivered");
  if (tells(record)) return told(record, attempt, "delivered");
  const { dialect, run } = record.message;
  if (run) {
    const says = outcome.kind === "answered" && isMarked(dialect, outcome.headers);
    return isStart(run) && !says ? unmarked(record, attempt) : done(record, attempt.endedAt);
  }
  const common = commonOf(record, attempt);
  const fact: AttemptFact = { kind: "fact", id: record.message.id, ...common, ended: "delivered" };
  const next = { kind: "delivered", endedAt: attempt.endedAt } as const;
  const answer =
    outcome.kind === "answered" && !keepsNoBody
      ? keptOfAnswer(record.message, outcome.body)
      : undefined;
  return {
    ...settlement(record, next, attempt.endedAt, [...callbacks(record, attempt), fact]),
    ...(answer && { answer }),
  };
}

const done = (record: InState<"claimed">, now: number): Settlement => ({
  ...settlement(record, { kind: "delivered", endedAt: now }, now, []),
  isImplied: true,
});

/**
 * Settles a delivery that its run no longer wants. If the start was claimed before, how it was answered is not known, so the
 * start counts as unmarked; unless its client demands that a workflow answers, where marks are expected all the same.
 */
export const over = (record: InState<"claimed">, now: number): Settlement => {
  const { run } = record.message;
  const outcome = { kind: "aborted" } as const;
  return run && isStart(run) && run.detects === undefined && record.epoch > 1
    ? unmarked(record, { startedAt: now, endedAt: now, outcome })
    : done(record, now);
};

const unmarked = (record: InState<"claimed">, { endedAt }: Attempt): Settlement =>
  settlement(record, { kind: "delivered", endedAt }, endedAt, [
    {
      ...{ kind: "run", says: "unmarked", format: marksFormat },
      ...{ attempt: record.retried, endedAt },
    },
  ]);

/**
 * Reports whether something that is no workflow answered the start of a run, or a workflow that its caller may not start.
 */
const isStrange = (
  { message: { dialect, run } }: InState<"claimed">,
  outcome: Outcome,
): boolean => {
  if (run?.detects === undefined || outcome.kind !== "answered") return false;
  if (!isMarked(dialect, outcome.headers)) return true;
  const sdk = outcome.headers.find(([name]) => name.toLowerCase() === `${dialect}-workflow-sdk`);
  return run.detects === "request" && !sdkOfRequests.test(sdk?.[1] ?? "");
};
/** A start by a request needs an SDK of 1.0 or later at its endpoint. */
const sdkOfRequests = /^v[1-9]/i;

const failStrange = (record: InState<"claimed">, attempt: Attempt): Settlement =>
  failRun(record, attempt, "not_a_workflow", notAWorkflow[record.message.run?.detects ?? "client"]);
/** Clients know these texts. */
const notAWorkflow = {
  client:
    "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint",
  request: "trigger rest api is only usable with sdk versions after v1.0.0 major version",
} as const;

/** Settles a failed delivery of a run. The run decides from it whether the run has failed. */
const failRun = (
  record: InState<"claimed">,
  attempt: Attempt,
  reason: RunFailureReason,
  error?: string,
): Settlement =>
  settlement(record, { kind: "failed", endedAt: attempt.endedAt }, attempt.endedAt, [
    {
      ...runItem(record, attempt),
      ...{ says: "failed", reason },
      ...(error !== undefined && { error }),
    },
  ]);

/** Settles a run's call: the endpoint is told, and only the endpoint decides what a failed call means. */
const called = (
  record: InState<"claimed">,
  attempt: Attempt,
  kind: "delivered" | "failed",
): Settlement =>
  settlement(record, { kind, endedAt: attempt.endedAt }, attempt.endedAt, [
    { ...runItem(record, attempt), says: "called" },
  ]);

const tells = ({ message: { run } }: InState<"claimed">): boolean =>
  run !== undefined && roundOf(run.part) !== undefined;

const told = (
  record: InState<"claimed">,
  attempt: Attempt,
  kind: "delivered" | "failed",
  reason?: FailureReason,
): Settlement =>
  settlement(record, { kind, endedAt: attempt.endedAt }, attempt.endedAt, [
    { ...runItem(record, attempt), says: "told", ...(reason && { reason }) },
  ]);

const runItem = (record: InState<"claimed">, { endedAt, outcome }: Attempt) =>
  ({ kind: "run", attempt: record.retried, endedAt, ...explanation(outcome) }) as const;

function retryLater(
  record: InState<"claimed">,
  attempt: Attempt,
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
    ...settlement(record, next, endedAt, items),
    retried: record.retried + 1,
  };
}

function fail(record: InState<"claimed">, attempt: Attempt, reason: FailureReason): Settlement {
  if (isCallOfRun(record.message)) return called(record, attempt, "failed");
  if (tells(record)) return told(record, attempt, "failed", reason);
  if (record.message.run) return failRun(record, attempt, reason);
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
  return settlement(record, { kind: "failed", endedAt }, endedAt, items);
}

/**
 * Ends a message that keeps taking deliverers down as a dead letter, without another attempt
 * (docs/design/record#poisonous-messages).
 */
export function quarantine(record: InState<"claimed">, now: number): Settlement {
  const lost = Math.ceil(record.leaseLosses / leaseLossParts);
  const text = `quarantined: at least ${lost} attempts ended without a word from the process that made them`;
  const outcome: Outcome = { kind: "infrastructure", code: "internal", text };
  return fail(record, { startedAt: now, endedAt: now, outcome }, "quarantined");
}

/**
 * Settles an infrastructure failure: no retry is used and nothing is told; the log of the service says why. A message that
 * has failed so for an hour, with no attempt between, ends: one that can never be attempted must not be tried for ever.
 */
function defer(record: InState<"claimed">, attempt: Attempt): Settlement {
  if (record.deferrals >= deferralsMax) return fail(record, deferredForLong(attempt), "deferred");
  const waitMs = deferralMs(record.deferrals);
  return {
    ...settlement(record, heldFor(waitMs, attempt.endedAt), attempt.endedAt, []),
    deferrals: record.deferrals + 1,
  };
}

/**
 * Hands the claim back at once, when the process stops or the lane's slot was gone. No attempt is counted. The deliverer may
 * be unable to send a hint, so the record is held until now instead of due: its alarm rings at once.
 */
export function giveBack(record: InState<"claimed">, now: number): Settlement {
  const next = onward(record.message, "time", now, now);
  return next.kind === "waiting" ? uncounted(record, next, now) : postpone(record, now, now);
}

/** Hands the claim back until `dueAt`. No attempt is counted. */
export const postpone = (record: InState<"claimed">, now: number, dueAt: number): Settlement =>
  uncounted(record, heldFor(untilMs(dueAt, Infinity, now), now), now);

/** `waitMs` is at least 1: a store may keep it as a number in which 0 stands for absent. */
const heldFor = (waitMs: number, now: number): Extract<MessageState, { kind: "held" }> => ({
  kind: "held",
  dueAt: now + waitMs,
  waitMs: Math.max(1, waitMs),
});

function uncounted(record: InState<"claimed">, next: Settlement["next"], now: number): Settlement {
  const { leaseLosses, deferrals } = record;
  return { ...settlement(record, next, now, []), leaseLosses, deferrals };
}

function deferredForLong(attempt: Attempt): Attempt {
  const { outcome } = attempt;
  if (outcome.kind !== "infrastructure") return attempt;
  const text = `deferred for an hour, no attempt was possible: ${outcome.text}`;
  return { ...attempt, outcome: { ...outcome, text } };
}

function settlement(
  record: InState<"claimed">,
  next: Settlement["next"],
  now: number,
  append: readonly FollowUp[],
): Settlement {
  return {
    message: record.message,
    epoch: record.epoch,
    next,
    wakeAt: alarmOnEntering(record.message, next, record.outbox.length + append.length > 0, now),
    source: sourceOf(next, [...record.outbox, ...append]),
    retried: record.retried,
    leaseLosses: 0,
    deferrals: 0,
    append,
  };
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
  { startedAt, endedAt, outcome }: Attempt,
): Pick<AttemptFact, "answered" | "attempt" | "endedAt" | "startedAt"> => ({
  attempt: retried,
  startedAt,
  endedAt,
  ...(outcome.kind === "answered" && {
    answered: { status: outcome.status, bytes: outcome.body.length },
  }),
});

type Explanation = { readonly error?: string; readonly response?: Answer };

const ofFact = ({ response, ...said }: Explanation): Explanation =>
  response ? { ...said, response: answerOfFact(response) } : said;

function explanation(outcome: Outcome): Explanation {
  switch (outcome.kind) {
    case "answered":
      return {
        response: answerOf(outcome),
        ...(outcome.refused !== undefined && { error: outcome.refused }),
      };
    case "unreachable":
    case "infrastructure":
      return { error: outcome.text };
    case "aborted":
      return {};
  }
}

const answerOf = (outcome: Answer): Answer => ({
  status: outcome.status,
  headers: outcome.headers,
  body: outcome.body,
  truncated: outcome.truncated,
});

function callbackItem(record: InState<"claimed">, attempt: Attempt): Omit<CallbackItem, "kind"> {
  return {
    attempt: record.retried,
    endedAt: attempt.endedAt,
    retried: record.retried,
    ...explanation(attempt.outcome),
  };
}

function callbacks(record: InState<"claimed">, attempt: Attempt): FollowUp[] {
  return record.message.policy.callback
    ? [{ kind: "callback", ...callbackItem(record, attempt) }]
    : [];
}

function failureCallback(record: InState<"claimed">, attempt: Attempt, id: DlqId): FollowUp[] {
  if (!record.message.policy.failureCallback) return [];
  return [{ kind: "failureCallback", ...callbackItem(record, attempt), dlqId: id }];
}
