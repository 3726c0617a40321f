/** Promotes a message: it waited for a slot of its flow key, gets one, and is due for as long as its grant lasts. */
import { alarmOf } from "./alarm.ts";
import { type MessageState } from "./message.ts";

export type Promotion = {
  readonly next: Extract<MessageState, { kind: "due" }>;
  /** The end of the grant, which is never later than the alarm of an outbox. */
  readonly wakeAt: number | undefined;
};

/** Returns one promotion for a whole batch: stores write it as columns of the records that still wait. */
export function promote(grantUntil: number, now: number): Promotion {
  const next = { kind: "due", hints: 0, grantUntil } as const;
  return { next, wakeAt: alarmOf(next, false, now) };
}
