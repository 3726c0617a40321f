/** Turns: the changes of a queue's message that gets a turn, or has it taken back (docs/design/queues#turns). */
import { type Owner, type QueueId, type FlowId } from "../shared/ids.ts";
import { leaseMs, lightBytesMax } from "../shared/limits.ts";
import { isOver } from "../shared/time.ts";
import { dueAtOf, stateAtNextGate } from "../lane/gates.ts";
import { alarmOnEntering } from "./alarm.ts";
import { claim } from "./claim.ts";
import { type InState, isFinished, type MessageRecord, type MessageState } from "./message.ts";
import { type Settlement } from "./settlement.ts";

type WithTurn = InState<"held" | "waiting" | "due"> | InState<"claimed">;

/**
 * Gives a message its turn, and claims it for `owner` if it may go at once. A delayed message keeps its place: it holds the turn while it
 * waits for its time.
 */
export function takeTurn(record: InState<"queued">, now: number, owner?: Owner): WithTurn {
  const { message, outbox } = record;
  const state = stateAtNextGate(message, "queue", dueAtOf(message, now), now);
  const wakeAt = alarmOnEntering(message, state, outbox.length > 0, now);
  const given = { ...record, state, wakeAt };
  return owner === undefined || state.kind !== "due" ? given : claim(given, owner, now);
}

/** Returns what messages with a turn wait for: when the first of them is due, and the flow lanes that they have joined. */
export function waitsOf(states: readonly MessageState[]): {
  readonly heldUntil?: number;
  readonly flows: readonly FlowId[];
} {
  const times = states.flatMap((state) => (state.kind === "held" ? state.dueAt : []));
  const flows = states.flatMap((state) => (state.kind === "waiting" ? state.flow : []));
  return {
    ...(times.length > 0 && { heldUntil: Math.min(...times) }),
    flows: [...new Set(flows)],
  };
}

/** Reports whether a message with a body of so many bytes may be claimed with its turn: no bytes are reserved for a heavy one. */
export const mayClaimWithTurn = (bodyBytes: number): boolean => bodyBytes <= lightBytesMax;

/** Reports whether a pause takes the turn back: only if no attempt of the message was made. Otherwise its retries continue. */
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
 * Returns the epoch of a message whose turn is taken back. A queued message gets it, too, which fences an `admit`
 * that is about to give it the turn.
 */
export const takenBackEpoch = ({ epoch }: Pick<MessageRecord, "epoch">): number => epoch + 1;

/** Returns the queue in which a settlement ends a turn: its message needs the turn no longer, and makes no callback. */
export const queueOfEndedTurn = ({ append, message, next }: Settlement): QueueId | undefined =>
  isFinished(next) && !hasCallback(append) ? (message.queue ?? message.turnOf?.queue) : undefined;

type Holder = Pick<MessageRecord, "state" | "outbox">;

/**
 * Reports whether a message itself needs its turn no longer: it has ended, its callbacks have been made, and no call
 * of it can be running. The turn is over when the callbacks have ended, too. An undefined `holder` was removed, so it
 * is done.
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
