/** Cancelling: one conditional write from any live state (docs/design/record#cancelling). Not a dead letter, and no callback. */
import { alarmOf } from "./alarm.ts";
import { type AttemptFact } from "./follow-up.ts";
import { leaseMs } from "../shared/limits.ts";
import {
  type InState,
  isFinished,
  isIn,
  type LiveKind,
  type MessageRecord,
  type MessageState,
} from "./message.ts";

export type Cancellation = {
  readonly next: Extract<MessageState, { kind: "canceled" }>;
  readonly epoch: number;
  readonly wakeAt: number | undefined;
  readonly fact: AttemptFact;
};

/**
 * What was still to be delivered of a run that has ended. There is no fact: the run says what has become of it. Undefined: it
 * is running, or over, or no message of a run.
 */
export function dropped(
  { epoch, message, state }: MessageRecord,
  now: number,
): Pick<Cancellation, "next" | "epoch"> | undefined {
  if (!message.run || isFinished(state) || state.kind === "claimed") return undefined;
  return { next: { kind: "canceled", endedAt: now }, epoch: epoch + 1 };
}

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
    startedAt: isIn(record, "claimed") ? begunAt(record, now) : undefined,
    endedAt: now,
    ended: "canceled",
  };
  return { next, epoch: record.epoch + 1, wakeAt: alarmOf(next, true, now), fact };
}

/** When its call began, as far as the record knows: with the claim that an insert or a deliverer has made, or at its last renewal. */
const begunAt = ({ message, state }: InState<"claimed">, now: number): number =>
  Math.min(now, Math.max(message.createdAt, state.leaseUntil - leaseMs));
