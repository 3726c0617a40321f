/**
 * Follow-ups: what an attempt causes. They stand in the record's outbox, in the same write as the new state (I2), until
 * each is safe elsewhere, and their ids are derived, so working one twice is working it once.
 */
import { type DlqId, type MessageId } from "../shared/ids.ts";
import { logResponseBytesMax } from "../shared/limits.ts";
import { type Answer } from "./outcome.ts";

/** In the order in which those of one attempt are worked: the dead letter is there before the failure is told (I6). */
export const followUpKinds = ["deadLetter", "callback", "failureCallback", "run", "fact"] as const;
export type FollowUpKind = (typeof followUpKinds)[number];

/** `format`: of the item, see `isUnderstood`; absent: 1. */
type Stored = { readonly format?: number };

export const failureReasons = [
  "retries_exhausted",
  "non_retryable",
  "quarantined",
  "deferred",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Why a run has failed: as a message does, or since its start was answered by something that is no workflow. */
export type RunFailureReason = FailureReason | "not_a_workflow";

/** How the attempt ended for the log: its events in order, and what the destination said. No request body (docs/design/wire#the-message-log). */
export type AttemptFact = Stored & {
  readonly kind: "fact";
  readonly id: MessageId;
  /** Position of the attempt: failures before it, whatever caused them; unique per message together with `ended`. */
  readonly attempt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly ended: "delivered" | "retry" | "failed" | "canceled";
  readonly nextDeliveryAt?: number;
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
  /** Failures that count as retries, before this attempt. */
  readonly retried: number;
  readonly error?: string;
  readonly response?: Answer;
  /** Present on failure callbacks. */
  readonly dlqId?: DlqId;
};

/**
 * `failed`: a delivery of a run has, for good. `called`: a third party has had its last call, whatever came of that. `told`: of
 * the failure of a run, or that could not be; then there is a reason. `unmarked`: the start of a run was answered
 * without the mark of a workflow, or it is not known how.
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

/** What a fact keeps of an answer: the first `limits.logResponseBytesMax` bytes of its body. */
export const answerOfFact = (answer: Answer): Answer =>
  answer.body.length <= logResponseBytesMax
    ? answer
    : { ...answer, body: answer.body.subarray(0, logResponseBytesMax), truncated: true };

export type FollowUp = DeadLetterItem | CallbackItem | RunItem | AttemptFact;
export type FollowUpOf<K extends FollowUpKind> = FollowUp & { readonly kind: K };
