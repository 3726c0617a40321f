/**
 * Follow-ups: the work that an attempt causes. The write of the new state puts them into the record's outbox (I2),
 * where they stay until each is safe elsewhere. Their ids are derived, so working one twice has the effect of once.
 */
import { type DlqId, type MessageId } from "../shared/ids.ts";
import { logResponseBytesMax } from "../shared/limits.ts";
import { type Answer, type Answered } from "./outcome.ts";

/** Ordered as those of one attempt are worked: the dead letter is written before the failure is reported (I6). */
export const followUpKinds = ["deadLetter", "callback", "failureCallback", "run", "fact"] as const;
export type FollowUpKind = (typeof followUpKinds)[number];

/** `format`: of the item, see `isKnownFormat`; absent for format 1. */
type Stored = { readonly format?: number };

export const failureReasons = [
  "retries_exhausted",
  "non_retryable",
  "quarantined",
  "deferred",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Why a run has failed: for the reason of a message, or because its start was answered without the mark of a workflow. */
export type RunFailureReason = FailureReason | "not_a_workflow";

/**
 * How an attempt ended, for the log: its events in order, and the destination's answer. The request's body is left
 * out (docs/design/wire#the-message-log).
 */
export type AttemptFact = Stored & {
  readonly kind: "fact";
  readonly id: MessageId;
  /** The number of retries before this attempt. Unique for a message together with `ended`. */
  readonly attempt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly ended: "delivered" | "retry" | "failed" | "canceled";
  readonly nextDeliveryAt?: number;
  /** Absent if no answer came. */
  readonly answered?: Answered;
  readonly error?: string;
  readonly response?: Answer;
};

export type DeadLetterItem = Stored & {
  readonly kind: "deadLetter";
  readonly attempt: number;
  readonly dlqId: DlqId;
  readonly failedAt: number;
  readonly reason: FailureReason;
  readonly error?: string;
  readonly response?: Answer;
};

export type CallbackItem = Stored & {
  readonly kind: "callback" | "failureCallback";
  readonly attempt: number;
  readonly endedAt: number;
  /** Failures before this attempt that count as retries. */
  readonly retried: number;
  readonly error?: string;
  readonly response?: Answer;
  /** Present on failure callbacks. */
  readonly dlqId?: DlqId;
};

/**
 * `failed`: a delivery of a run has failed for good. `called`: a call to a third party has ended, with whatever
 * outcome. `told`: the failure function was called; `reason` is set if that failed. `unmarked`: the start of a run
 * was answered without the mark of a workflow, or its answer is not known.
 */
export type RunItem = Stored & {
  readonly kind: "run";
  readonly says: "failed" | "called" | "told" | "unmarked";
  readonly attempt: number;
  readonly endedAt: number;
  readonly reason?: RunFailureReason;
  readonly error?: string;
  readonly response?: Answer;
};

/** Returns the part of an answer that a fact keeps: the first `limits.logResponseBytesMax` bytes of its body. */
export const answerOfFact = (answer: Answer): Answer =>
  answer.body.length <= logResponseBytesMax
    ? answer
    : { ...answer, body: answer.body.subarray(0, logResponseBytesMax), truncated: true };

export type FollowUp = DeadLetterItem | CallbackItem | RunItem | AttemptFact;
export type FollowUpOf<K extends FollowUpKind> = FollowUp & { readonly kind: K };
