/** Promoting: what waits for a slot of its flow key has got one, and is due for as long as its grant holds. */
import { alarmOf } from "./alarm.ts";
import { type MessageState } from "./message.ts";

export type Promotion = {
  readonly next: Extract<MessageState, { kind: "due" }>;
  /** That of an outbox would not be sooner than the end of a grant. */
  readonly wakeAt: number | undefined;
};

/** The same for each of a batch: stores write it as columns, where a record still waits. */
export function promote(grantUntil: number, now: number): Promotion {
  const next = { kind: "due", hints: 0, grantUntil } as const;
  return { next, wakeAt: alarmOf(next, false, now) };
}
