/**
 * Cancels a message: one conditional write from any live state (docs/design/record#cancelling). A cancelled message
 * has no dead letter and no callback.
 */
import { alarmOf } from "./alarm.ts";
import { type AttemptFact } from "./follow-up.ts";
import { type MessageId } from "../shared/ids.ts";
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
 * Drops an undelivered message of an ended run. There is no fact: the run says what became of the message. Returns
 * undefined for a message that is claimed or finished, or that belongs to no run.
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
  // The turn lasts until the call has ended: its process aborts the call, or the lease expires.
  const cutsShort = message.queue !== undefined && state.kind === "claimed";
  const next = {
    kind: "canceled",
    endedAt: now,
    ...(cutsShort && { runsUntil: state.leaseUntil }),
  } as const;
  const startedAt = isIn(record, "claimed") ? begunAt(record, now) : undefined;
  const fact = { ...owedCancellation(message.id, record.retried, now), startedAt };
  return { next, epoch: record.epoch + 1, wakeAt: alarmOf(next, true, now), fact };
}

/**
 * Reports whether only the log needs the fact of a cancellation, and the record has everything that is in the fact. A store
 * with a log of its own may then end the record with an empty outbox, and the canceller writes the fact to the log. A fact
 * with redactions goes through the outbox: the sweep could not redact it.
 */
export const owesOnlyLog = (
  { message, outbox }: MessageRecord,
  { startedAt }: AttemptFact,
): boolean => startedAt === undefined && outbox.length === 0 && !message.policy.redaction;

/** Returns the fact of a cancellation of which no attempt ran, as the sweep finds it in the record. */
export const owedCancellation = (id: MessageId, attempt: number, endedAt: number): AttemptFact => ({
  kind: "fact",
  id,
  attempt,
  startedAt: undefined,
  endedAt,
  ended: "canceled",
});

/** Returns when the call began, as far as the record knows: at its insert, at its claim, or at its last renewal. */
const begunAt = ({ message, state }: InState<"claimed">, now: number): number =>
  Math.min(now, Math.max(message.createdAt, state.leaseUntil - leaseMs));
