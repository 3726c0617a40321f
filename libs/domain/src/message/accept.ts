/** Accepting: from a command to the first state of a record. */
import {
  type LaneId,
  type MessageId,
  type Owner,
  childId,
  flowLaneId,
  shardOf,
} from "../shared/ids.ts";
import { leaseMs } from "../shared/limits.ts";
import { type PublishCommand } from "../publish/command.ts";
import { type Endpoint } from "../publish/url-group.ts";
import { alarmOf } from "./alarm.ts";
import {
  type FanOut,
  type InState,
  type Message,
  type MessageRecord,
  type MessageState,
} from "./message.ts";

export function messageOf(
  command: PublishCommand,
  url: string,
  id: MessageId,
  now: number,
): Message {
  const { policy, tenant } = command;
  const flowLane = policy.flow ? flowLaneId(tenant, policy.flow.key) : undefined;
  return {
    id,
    tenant,
    dialect: command.dialect,
    shard: shardOf(flowLane ?? id),
    createdAt: now,
    notBefore: notBeforeOf(command, now),
    url,
    method: command.method,
    headers: command.headers,
    body: command.body,
    policy,
    origin: { callerIp: command.callerIp, hop: command.hop },
    ...(flowLane && { flowLane }),
    ...(command.trace !== undefined && { trace: command.trace }),
  };
}

function notBeforeOf(command: PublishCommand, now: number): number {
  const { postponement } = command;
  if (!postponement) return now;
  return postponement.kind === "delay"
    ? now + postponement.delayMs
    : Math.max(postponement.at, now);
}

/** The parent of a group publish: the commit point from which the children are made. */
export function parentMessage(
  command: PublishCommand,
  fanOut: FanOut,
  id: MessageId,
  now: number,
): Message {
  const { flowLane: _, ...message } = messageOf(command, "", id, now);
  return { ...message, shard: shardOf(id), fanOut };
}

/** The child for the endpoint at `index`, the same however often it is made. */
export function childMessage(parent: Message, endpoint: Endpoint, index: number): Message {
  const { fanOut, flowLane: _, ...shared } = parent;
  const id = childId(parent.id, index);
  const flowLane: LaneId | undefined = parent.policy.flow
    ? flowLaneId(parent.tenant, parent.policy.flow.key)
    : undefined;
  return {
    ...shared,
    id,
    url: endpoint.url,
    shard: shardOf(flowLane ?? id),
    bodyOf: parent.id,
    origin: {
      ...parent.origin,
      group: {
        name: fanOut?.group ?? "",
        ...(endpoint.name !== undefined && { endpointName: endpoint.name }),
      },
    },
    ...(flowLane && { flowLane }),
  };
}

/**
 * A record as it is first written. `unheard`: nobody will hear of it, since the bus is away; then it rings as soon as it
 * is due (decisions.md 12).
 */
export function accept(message: Message, now: number, unheard = false): MessageRecord {
  const record = recordIn(message, firstState(message, now), now);
  return unheard && record.state.kind === "due" ? { ...record, wakeAt: now } : record;
}

function firstState(message: Message, now: number): MessageState {
  if (message.fanOut) return { kind: "expanding", upTo: 0 };
  if (message.notBefore > now) return { kind: "held", dueAt: message.notBefore };
  return message.flowLane ? { kind: "waiting" } : { kind: "due", hints: 0 };
}

/** decisions.md 8: may be claimed by its own insert, if a slot is reserved for it. */
export const claimableAtInsert = (message: Message): boolean =>
  message.notBefore <= message.createdAt &&
  message.flowLane === undefined &&
  message.fanOut === undefined;

export function acceptClaimed(message: Message, owner: Owner, now: number): InState<"claimed"> {
  const record = recordIn(message, { kind: "claimed", owner, leaseUntil: now + leaseMs }, now);
  return { ...record, epoch: 1 };
}

function recordIn<S extends MessageState>(
  message: Message,
  state: S,
  now: number,
): MessageRecord<S> {
  return {
    message,
    state,
    wakeAt: alarmOf(state, false, now),
    epoch: 0,
    retried: 0,
    leaseLosses: 0,
    deferrals: 0,
    outbox: [],
  };
}
