/** Accepting: from a command to the first state of a record. */
import { dueAtOf, onward, shardOfMessage } from "../lane/gates.ts";
import { lanesOf } from "../lane/lane.ts";
import { type MessageId, type Owner } from "../shared/ids.ts";
import { queueFormat } from "../shared/format.ts";
import {
  grantMs,
  leaseLossParts,
  leaseMs,
  namedBodyBytesMax,
  namedLeaseMs,
} from "../shared/limits.ts";
import { notBeforeOf, type PublishCommand } from "../publish/command.ts";
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
    ...(queue !== undefined && { format: queueFormat }),
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
 * A record as it is first written. `unheard`: no hint of it can be sent, since the bus is away; then it rings as soon as it
 * is due (docs/design/outages#ownership-is-an-economy).
 */
export function accept(message: Message, now: number, unheard = false): MessageRecord {
  const record = recordIn(message, firstState(message, now), now);
  return unheard && record.state.kind === "due" ? { ...record, wakeAt: now } : record;
}

const firstState = (message: Message, now: number): MessageState =>
  onward(message, "none", dueAtOf(message, now), now);

/** docs/design/record#claimed-by-its-insert: may be claimed by its own insert, if a slot is reserved for it. */
export const claimableAtInsert = (message: Message): boolean =>
  firstState(message, message.createdAt).kind === "due";

/** Nothing but a slot of its flow key stands between it and its call: with one it may be claimed by its insert, too. */
export const needsSlotAlone = (message: Message): boolean =>
  firstState(message, message.createdAt).kind === "waiting";

/** Its slot is taken: it is due at once, for as long as a grant holds. `unheard` as of `accept`. */
export function acceptGranted(message: Message, now: number, unheard = false): MessageRecord {
  const record = recordIn(message, promote(now + grantMs, now).next, now);
  return unheard ? { ...record, wakeAt: now } : record;
}

export function acceptClaimed(message: Message, owner: Owner, now: number): InState<"claimed"> {
  const record = recordIn(message, { kind: "claimed", owner, leaseUntil: now + leaseMs }, now);
  return { ...record, epoch: 1 };
}

/**
 * Claimed by its insert for a deliverer in another process. Should that never hear of it, no process was lost with it: so
 * the first lease that runs out is not counted.
 */
export function acceptNamed(message: Message, owner: Owner, now: number): InState<"claimed"> {
  const record = recordIn(message, { kind: "claimed", owner, leaseUntil: now + namedLeaseMs }, now);
  return { ...record, epoch: 1, leaseLosses: -leaseLossParts };
}

export const isNamed = (record: MessageRecord): record is InState<"claimed"> =>
  record.state.kind === "claimed" &&
  record.epoch === 1 &&
  record.state.leaseUntil <= record.message.createdAt + namedLeaseMs;

/** Its hint may carry it, and its log be written at its end: it is to go at once, is small, and hides nothing. */
export const mayBeNamed = (message: Message): boolean =>
  message.body.length <= namedBodyBytesMax &&
  message.bodyOf === undefined &&
  !message.run &&
  !message.policy.redaction &&
  (claimableAtInsert(message) || needsSlotAlone(message));

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
