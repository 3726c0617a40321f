/**
 * Follow-ups: what an attempt causes. They stand in the record's outbox, in the same write as the new state (I2), until
 * each is safe elsewhere, and their ids are derived, so working one twice is working it once.
 */
import { type DlqId, type MessageId } from "../shared/ids.ts";
import { type Answer } from "./outcome.ts";

export type FailureReason = "retries_exhausted" | "non_retryable" | "quarantined";

/** How the attempt ended for the log: its events in order, and what the destination said. No request body (decisions.md 13). */
export type AttemptFact = {
  readonly kind: "fact";
  readonly id: MessageId;
  /** Position of the attempt: failures before it, whoever's; unique per message together with `ended`. */
  readonly attempt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly ended: "delivered" | "retry" | "failed" | "canceled";
  readonly nextDeliveryAt?: number;
  readonly error?: string;
  readonly response?: Answer;
};

export type DeadLetterItem = {
  readonly kind: "deadLetter";
  readonly attempt: number;
  readonly dlqId: DlqId;
  readonly failedAt: number;
  readonly reason: FailureReason;
  readonly error?: string;
  readonly response?: Answer;
};

export type CallbackItem = {
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

export type FollowUp = DeadLetterItem | CallbackItem | AttemptFact;
export type FollowUpKind = FollowUp["kind"];

/** The order within one attempt: who hears of a failed message finds its dead letter (I6). */
const order: readonly FollowUpKind[] = ["deadLetter", "callback", "failureCallback", "fact"];

export const inWorkingOrder = (outbox: readonly FollowUp[]): readonly FollowUp[] =>
  outbox.toSorted((a, b) => a.attempt - b.attempt || order.indexOf(a.kind) - order.indexOf(b.kind));
