/** Accepts messages: from a command to the first state of a record. */
import { dueAtOf, lanesOf, notBeforeOf, shardOfMessage, stateAtNextGate } from "../lane/gates.ts";
import { type MessageId, type Owner } from "../shared/ids.ts";
import {
  grantMs,
  leaseLossParts,
  leaseMs,
  namedBodyBytesMax,
  namedLeaseMs,
} from "../shared/limits.ts";
import { type PublishCommand } from "../publish/command.ts";
import { alarmOnEntering } from "./alarm.ts";
import { type InState, type Message, type MessageRecord, type MessageState } from "./message.ts";
import { promote } from "./promote.ts";

export function messageOf(
  command: PublishCommand,
  url: string,
  id: MessageId,
  now: number,
): Message {
  const { destination, policy, queue, tenant } = command;
  const api = destination.kind === "url" ? destination.api : undefined;
  const lanes = lanesOf(tenant, policy.flow, queue);
  return {
    ...lanes,
    id,
    tenant,
    dialect: command.dialect,
    shard: shardOfMessage({ id, ...lanes }),
    createdAt: now,
    notBefore: notBeforeOf(command, now),
    url,
    method: command.method,
    headers: command.headers,
    body: command.body,
    policy,
    origin: {
      callerIp: command.callerIp,
      hop: command.hop,
      ...(command.schedule !== undefined && { scheduleId: command.schedule }),
      ...(queue !== undefined && { queueName: queue }),
      ...(api !== undefined && { api }),
    },
    ...(command.trace !== undefined && { trace: command.trace }),
  };
}

/**
 * Returns a record as it is first written. `unheard`: no hint of the message can be sent, since the bus is away, so a
 * record that is due rings at once (docs/design/outages#ownership-only-saves-work).
 */
export function accept(message: Message, now: number, unheard = false): MessageRecord {
  const record = recordIn(message, firstState(message, now), now);
  return unheard && record.state.kind === "due" ? { ...record, wakeAt: now } : record;
}

const firstState = (message: Message, now: number): MessageState =>
  stateAtNextGate(message, "none", dueAtOf(message, now), now);

/**
 * Reports whether a message may be claimed by its own insert, if a slot is reserved for it
 * (docs/design/record#claimed-by-its-insert).
 */
export const claimableAtInsert = (message: Message): boolean =>
  firstState(message, message.createdAt).kind === "due";

/** Reports whether a message needs at most a slot of its flow key before its call. */
export function mayGoAtOnce(message: Message): boolean {
  const { kind } = firstState(message, message.createdAt);
  return kind === "due" || kind === "waiting";
}

/** Reports whether a message needs only a slot of its flow key before its call. With a slot, its insert may claim it, too. */
export const needsOnlySlot = (message: Message): boolean =>
  message.flow !== undefined && firstState(message, message.createdAt).kind === "waiting";

/**
 * Returns the record of a message whose slot is taken: due at once, for as long as a grant holds. `unheard` as in `accept`.
 */
export function acceptGranted(message: Message, now: number, unheard = false): MessageRecord {
  const record = recordIn(message, promote(now + grantMs, now).next, now);
  return unheard ? { ...record, wakeAt: now } : record;
}

export function acceptClaimed(message: Message, owner: Owner, now: number): InState<"claimed"> {
  const record = recordIn(message, { kind: "claimed", owner, leaseUntil: now + leaseMs }, now);
  return { ...record, epoch: 1 };
}

/**
 * Returns a record that its insert claims for a deliverer in another process. If the first lease expires, it is not
 * counted as lost: if that deliverer never receives the message, no process was lost with it.
 */
export function acceptNamed(message: Message, owner: Owner, now: number): InState<"claimed"> {
  const record = recordIn(message, { kind: "claimed", owner, leaseUntil: now + namedLeaseMs }, now);
  return { ...record, epoch: 1, leaseLosses: -leaseLossParts };
}

export const isNamed = (record: MessageRecord): record is InState<"claimed"> =>
  record.state.kind === "claimed" &&
  record.epoch === 1 &&
  record.state.leaseUntil <= record.message.createdAt + namedLeaseMs;

/**
 * Reports whether a message may be claimed for a named deliverer. The hint carries the record, and the log is written at the
 * message's end, so the message must go at once, be small, and have nothing to redact.
 */
export const mayBeNamed = (message: Message): boolean =>
  message.body.length <= namedBodyBytesMax &&
  message.bodyOf === undefined &&
  !message.run &&
  !message.policy.redaction &&
  mayGoAtOnce(message);

function recordIn<S extends MessageState>(
  message: Message,
  state: S,
  now: number,
): MessageRecord<S> {
  return {
    message,
    state,
    wakeAt: alarmOnEntering(message, state, false, now),
    epoch: 0,
    retried: 0,
    leaseLosses: 0,
    deferrals: 0,
    outbox: [],
  };
}
