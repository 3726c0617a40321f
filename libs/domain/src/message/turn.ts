/** Turns: what becomes of a queue's message that gets a turn, or has it taken back (docs/design/queues#turns). */
import { leaseMs } from "../shared/limits.ts";
import { isOver } from "../shared/time.ts";
import { dueAtOf, onward } from "../lane/gates.ts";
import { alarmOnEntering } from "./alarm.ts";
import { type InState, type MessageRecord, type MessageState } from "./message.ts";

export type Turn = {
  readonly next: Extract<MessageState, { kind: "held" | "waiting" | "due" }>;
  readonly wakeAt: number | undefined;
};

/** Gives a message its turn. A delayed message keeps its place: it holds the turn while it waits for its time. */
export function takeTurn({ message, outbox }: InState<"queued">, now: number): Turn {
  const next = onward(message, "queue", dueAtOf(message, now), now);
  return { next, wakeAt: alarmOnEntering(message, next, outbox.length > 0, now) };
}

/** Reports whether a pause takes the turn back: only if no attempt of the message was made. Otherwise its retries go on. */
export const mayTakeBack = (
  record: MessageRecord,
): record is InState<"queued" | "held" | "waiting" | "due"> =>
  untriedKinds.has(record.state.kind) && record.retried === 0 && record.leaseLosses === 0;

const untriedKinds: ReadonlySet<MessageState["kind"]> = new Set([
  "queued",
  "held",
  "waiting",
  "due",
]);

/**
 * Returns the epoch of a message whose turn is taken back. A queued message gets it, too: that fences an `admit` that is
 * about to give it the turn.
 */
export const takenBackEpoch = ({ epoch }: Pick<MessageRecord, "epoch">): number => epoch + 1;

type Holder = Pick<MessageRecord, "state" | "outbox">;

/**
 * Reports whether a message itself needs its turn no longer: it has ended, its callbacks have been made, and no call of it
 * can be running. The turn is over when the callbacks have ended, too. An undefined `holder` was removed, and is done.
 */
export function isDone(holder: Holder | undefined, now: number): boolean {
  if (!holder) return true;
  const { state, outbox } = holder;
  switch (state.kind) {
    case "canceled":
      return isOver(state.runsUntil ?? 0, leaseMs, now) && !hasCallback(outbox);
    case "delivered":
    case "failed":
      return !hasCallback(outbox);
    case "queued":
    case "held":
    case "waiting":
    case "due":
    case "claimed":
      return false;
  }
}

const hasCallback = (outbox: Holder["outbox"]): boolean =>
  outbox.some(({ kind }) => kind === "callback" || kind === "failureCallback");
