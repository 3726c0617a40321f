/**
 * The gates that a message passes before it is due, in one order: a turn of its queue, its time, a slot of its flow key.
 * This is the only place that knows the order.
 */
import { shardOf } from "../shared/shards.ts";
import { type Message, type MessageState } from "../message/message.ts";
import { type LaneId, type MessageId } from "../shared/ids.ts";
import { type Lanes, type LanesOf } from "./lane.ts";

/** Passed so far. */
export type Gate = "none" | "queue" | "time";

/** With a turn the queue is passed for good: retries and hand-backs change nothing about it. */
type WithTurn = Exclude<Onward, { kind: "queued" }>;
type Onward = Extract<MessageState, { kind: "queued" | "held" | "waiting" | "due" }>;

/** The state at the next gate. `dueAt`: its time, as the caller, a retry or a destination has set it. */
export function onward(
  lanes: Lanes,
  passed: "queue" | "time",
  dueAt: number,
  now: number,
): WithTurn;
export function onward(lanes: Lanes, passed: Gate, dueAt: number, now: number): Onward;
export function onward(lanes: Lanes, passed: Gate, dueAt: number, now: number): Onward {
  const { queue, flow } = lanes satisfies LanesOf<"queue" | "flow">;
  if (passed === "none" && queue !== undefined) return { kind: "queued", queue };
  if (passed !== "time" && dueAt > now) return { kind: "held", dueAt };
  return flow === undefined ? { kind: "due", hints: 0 } : { kind: "waiting", flow };
}

/** The time that the publish has set. A message without a delay is due, also where the clock that made it was ahead. */
export const dueAtOf = (
  { createdAt, notBefore }: Pick<Message, "createdAt" | "notBefore">,
  now: number,
): number => (notBefore <= createdAt ? Math.min(notBefore, now) : notBefore);

/**
 * A record has the shard of its queue, else of its flow key, else its own: what is written together stands together. That of
 * a run has its run's (workflow/delivery.ts).
 */
export function shardOfMessage(message: Lanes & { readonly id: MessageId }): number {
  const { id, queue, flow } = message satisfies LanesOf<"queue" | "flow">;
  return shardOf(queue ?? flow ?? id);
}

/** Whether a lane's row is of another shard than the record that waits in it. */
export const isForeign = ({ shard }: Pick<Message, "shard">, lane: LaneId): boolean =>
  shardOf(lane) !== shard;
