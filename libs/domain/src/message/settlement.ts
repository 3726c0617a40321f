/** A settlement is the one conditional write that ends an attempt, as data: the new state and the follow-ups. */
import { type MessageId } from "../shared/ids.ts";
import { alarmOnEntering, type RecordSource, sourceOf } from "./alarm.ts";
import { type AttemptFact, type FollowUp } from "./follow-up.ts";
import { type InState, type Message, type MessageState } from "./message.ts";
import { type Answer, type Outcome } from "./outcome.ts";

/** Written if `{id, epoch, claimed}` still holds; `append` is added to the outbox. */
export type Settlement = {
  readonly message: Message;
  readonly epoch: number;
  readonly next: Exclude<MessageState, { kind: "queued" | "claimed" }>;
  readonly retried: number;
  readonly leaseLosses: number;
  readonly deferrals: number;
  /** The outbox at the claim. Some items may have been cleared since. */
  readonly outbox: readonly FollowUp[];
  readonly append: readonly FollowUp[];
  /** The kept part of the answer that delivered the message. */
  readonly answer?: Uint8Array;
  /** Another durable write shows the same: a settle that a crash undoes is made again without another call. */
  readonly isImplied?: true;
};

/**
 * Returns the fact of a delivery that only the log needs: a store that keeps the log apart may end the record with an
 * empty outbox, and its settler then owes the log this fact. Undefined for a message with redactions: its fact is
 * redacted, which no sweep could do.
 */
export function owedToLog({ message, next, append }: Settlement): AttemptFact | undefined {
  const [fact, ...others] = append;
  if (fact?.kind !== "fact" || others.length > 0 || next.kind !== "delivered") return undefined;
  return message.run || message.policy.redaction ? undefined : fact;
}

/** Returns the fact that a sweep can still write after its deliverer has died: with the time when the record ended, not when its call began. */
export const owedFact = (id: MessageId, attempt: number, endedAt: number): AttemptFact => ({
  kind: "fact",
  id,
  attempt,
  startedAt: endedAt,
  endedAt,
  ended: "delivered",
});

export type EndedAttempt = {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
};

export function settlement(
  record: InState<"claimed">,
  next: Settlement["next"],
  append: readonly FollowUp[],
): Settlement {
  return {
    message: record.message,
    epoch: record.epoch,
    next,
    retried: record.retried,
    leaseLosses: 0,
    deferrals: 0,
    outbox: record.outbox,
    append,
  };
}

/** Returns the alarm that the write sets, and its source, as far as the claimer knew the rest of the outbox. */
export function alarmAfter(
  { append, message, next, outbox }: Settlement,
  now: number,
): { readonly wakeAt: number | undefined; readonly source: RecordSource } {
  const all = [...outbox, ...append];
  const wakeAt = alarmOnEntering(message, next, all.length > 0, now);
  return { wakeAt, source: sourceOf(next, all) };
}

/** Returns the state of a record that waits. `waitMs` is at least 1: a store may keep it as a number in which 0 means absent. */
export const heldFor = (waitMs: number, now: number): Extract<MessageState, { kind: "held" }> => ({
  kind: "held",
  dueAt: now + waitMs,
  waitMs: Math.max(1, waitMs),
});

/** The answer, or the reason why there is none, for callbacks, letters, runs and the log. */
export type Explanation = { readonly error?: string; readonly response?: Answer };

export function explanation(outcome: Outcome): Explanation {
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
