/** A dead letter: a message whose retries are used, with its last answer (docs/design/wire#dead-letters). */
import { type DlqId } from "../shared/ids.ts";
import { type DeadLetterItem, type FailureReason } from "./follow-up.ts";
import { type Message } from "./message.ts";
import { type Answer } from "./outcome.ts";

export type DeadLetter = {
  readonly id: DlqId;
  readonly failedAt: number;
  readonly reason: FailureReason;
  readonly message: Message;
  readonly retried: number;
  readonly error?: string;
  readonly response?: Answer;
};

export const deadLetterOf = (message: Message, item: DeadLetterItem): DeadLetter => ({
  id: item.dlqId,
  failedAt: item.failedAt,
  reason: item.reason,
  message,
  retried: item.attempt,
  ...(item.error !== undefined && { error: item.error }),
  ...(item.response && { response: item.response }),
});
