/**
 * The gates that a message passes before it is due, in one order: a turn of its queue, its time, a slot of its flow key.
 * Only this file knows the order. A publish gives a message its lines and its time.
 */
import {
  flowLaneId,
  type LaneId,
  type MessageId,
  queueId,
  shardOf,
  type TenantId,
} from "../shared/ids.ts";
import { type Message, type MessageState } from "../message/message.ts";
import { type PublishCommand } from "../publish/command.ts";
import { type Lanes, type LanesOf } from "./lane.ts";

/** Returns the lines that a message is in. */
export const lanesOf = (
  tenant: TenantId,
  flow: { readonly key: string } | undefined,
  queue?: string,
): Lanes => ({
  ...(queue !== undefined && { queue: queueId(tenant, queue) }),
  ...(flow && { flow: flowLaneId(tenant, flow.key) }),
});

/** The last gate that was passed. */
export type Gate = "none" | "queue" | "time";

/** The states after the queue. With a turn the message has passed the queue for good: retries and hand-backs do not change that. */
type WithTurn = Exclude<StateAtGate, { kind: "queued" }>;
type StateAtGate = Extract<MessageState, { kind: "queued" | "held" | "waiting" | "due" }>;

/** Returns the state at the next gate. `dueAt` is the message's time, as the caller, a retry or a destination has set it. */
export function stateAtNextGate(
  lanes: Lanes,
  passed: "queue" | "time",
  dueAt: number,
  now: number,
): WithTurn;
export function stateAtNextGate(
  lanes: Lanes,
  passed: Gate,
  dueAt: number,
  now: number,
): StateAtGate;
export function stateAtNextGate(
  lanes: Lanes,
  passed: Gate,
  dueAt: number,
  now: number,
): StateAtGate {
  const { queue, flow } = lanes satisfies LanesOf<"queue" | "flow">;
  if (passed === "none" && queue !== undefined) return { kind: "queued", queue };
  if (passed !== "time" && dueAt > now) return { kind: "held", dueAt };
  return flow === undefined ? { kind: "due", hints: 0 } : { kind: "waiting", flow };
}

/** Returns the earliest start in Unix milliseconds; never before `now`. */
export function notBeforeOf(
  { postponement }: Pick<PublishCommand, "postponement">,
  now: number,
): number {
  if (!postponement) return now;
  return postponement.kind === "delay"
    ? now + postponement.delayMs
    : Math.max(postponement.at, now);
}

/**
 * Returns the same for a step of a run. The SDK rounds the time of its `sleepUntil` to the nearest second, which may be half
 * a second too early: a time of whole seconds waits that half second more.
 */
export function notBeforeOfStep(command: Pick<PublishCommand, "postponement">, now: number) {
  const { postponement } = command;
  return postponement?.kind === "notBefore" && postponement.at % secondMs === 0
    ? Math.max(postponement.at + roundedMs, now)
    : notBeforeOf(command, now);
}

const secondMs = 1_000;
const roundedMs = secondMs / 2;

/** Returns the time that the publish set. A message without a delay is due now, even if the clock that made it was ahead. */
export const dueAtOf = (
  { createdAt, notBefore }: Pick<Message, "createdAt" | "notBefore">,
  now: number,
): number => (notBefore <= createdAt ? Math.min(notBefore, now) : notBefore);

/**
 * Returns the shard of a record: that of its queue, else of its flow key, else its own, so that a write concerns one shard.
 * A record of a run has the shard of its run (workflow/delivery.ts).
 */
export function shardOfMessage(message: Lanes & { readonly id: MessageId }): number {
  const { id, queue, flow } = message satisfies LanesOf<"queue" | "flow">;
  return shardOf(queue ?? flow ?? id);
}

/** Reports whether a lane's row belongs to another shard than the record that waits in it. */
export const isForeign = ({ shard }: Pick<Message, "shard">, lane: LaneId): boolean =>
  shardOf(lane) !== shard;
