/**
 * Follow-ups are what an attempt causes. The write of the new state puts them into the record's outbox (I2), where they stay
 * until each is safe elsewhere. Their ids are derived, so working one twice is working it once.
 */
import { type DlqId, type MessageId } from "../shared/ids.ts";
import { logResponseBytesMax } from "../shared/limits.ts";
import { type Answer, type Answered } from "./outcome.ts";

/** In the order in which those of one attempt are worked: the dead letter is written before the failure is told (I6). */
export const followUpKinds = ["deadLetter", "callback", "failureCallback", "run", "fact"] as const;
export type FollowUpKind = (typeof followUpKinds)[number];

/** `format`: the item's, see `isUnderstood`; absent: 1. */
type Stored = { readonly format?: number };

export const failureReasons = [
  "retries_exhausted",
  "non_retryable",
  "quarantined",
  "deferred",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Why a run has failed: for the reason of a message, or because something that is no workflow answered its start. */
export type RunFailureReason = FailureReason | "not_a_workflow";

/**
 * How an attempt ended, for the log: its events in order, and what the destination answered. The request's body is not in it
 * (docs/design/wire#the-message-log).
 */
export type AttemptFact = Stored & {
  readonly kind: "fact";
  readonly id: MessageId;
  /** The number of failures before this attempt, whatever caused them; unique per message together with `ended`. */
  readonly attempt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly ended: "delivered" | "retry" | "failed" | "canceled";
  readonly nextDeliveryAt?: number;
  /** Absent where no answer came, and in facts of earlier versions. */
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
 * `failed`: a delivery of a run has failed for good. `called`: a call to a third party has ended, with whatever outcome.
 * `told`: the failure of a run was told; `reason` is set where that failed. `unmarked`: the start of a run was answered
 * without the mark of a workflow, or how it was answered is not known.
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

/** Returns what a fact keeps of an answer: the first `limits.logResponseBytesMax` bytes of its body. */
export const answerOfFact = (answer: Answer): Answer =>
  answer.body.length <= logResponseBytesMax
    ? answer
    : { ...answer, body: answer.body.subarray(0, logResponseBytesMax), truncated: true };

export type FollowUp = DeadLetterItem | CallbackItem | RunItem | AttemptFact;
export type FollowUpOf<K extends FollowUpKind> = FollowUp & { readonly kind: K };
