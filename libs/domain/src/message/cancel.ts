/** Cancelling: one conditional write from any live state (decisions.md 9). Not a dead letter, and no callback. */
import { alarmOf } from "./alarm.ts";
import { type AttemptFact } from "./follow-up.ts";
import { type InState, type LiveKind } from "./message.ts";

export type Cancellation = {
  readonly next: { readonly kind: "canceled"; readonly endedAt: number };
  readonly epoch: number;
  readonly wakeAt: number | undefined;
  readonly fact: AttemptFact;
};

export function cancel(record: InState<LiveKind>, now: number): Cancellation {
  const next = { kind: "canceled", endedAt: now } as const;
  const fact: AttemptFact = {
    kind: "fact",
    id: record.message.id,
    attempt: record.retried,
    startedAt: undefined,
    endedAt: now,
    ended: "canceled",
  };
  return { next, epoch: record.epoch + 1, wakeAt: alarmOf(next, true, now), fact };
}
