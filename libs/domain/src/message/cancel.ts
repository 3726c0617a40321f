/** Cancelling: one conditional write from any live state (docs/design/record#cancelling). Not a dead letter, and no callback. */
import { alarmOf } from "./alarm.ts";
import { type AttemptFact } from "./follow-up.ts";
import { type InState, type LiveKind, type MessageState } from "./message.ts";

export type Cancellation = {
  readonly next: Extract<MessageState, { kind: "canceled" }>;
  readonly epoch: number;
  readonly wakeAt: number | undefined;
  readonly fact: AttemptFact;
};

export function cancel(record: InState<LiveKind>, now: number): Cancellation {
  const { message, state } = record;
  // Its turn lasts until the call has ended: the process that makes it aborts it, or its lease is past.
  const cutsShort = message.queue !== undefined && state.kind === "claimed";
  const next = {
    kind: "canceled",
    endedAt: now,
    ...(cutsShort && { runsUntil: state.leaseUntil }),
  } as const;
  const fact: AttemptFact = {
    kind: "fact",
    id: message.id,
    attempt: record.retried,
    startedAt: undefined,
    endedAt: now,
    ended: "canceled",
  };
  return { next, epoch: record.epoch + 1, wakeAt: alarmOf(next, true, now), fact };
}
