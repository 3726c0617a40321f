/** Valid messages and records: the test names only the values that matter to it. */
import {
  accept,
  type CallbackPlan,
  claim,
  type FollowUp,
  flowLaneId,
  type FlowLimits,
  type InState,
  type LiveKind,
  type Message,
  type MessageId,
  type MessageRecord,
  type MessageState,
  owner,
  type Policy,
  queueId,
  randomLength,
  randomMessageId,
  shardOfMessage,
  type TenantId,
  tenantId,
  alarmOf,
} from "@posthaste/domain";
import { epochStart } from "../virtual-clock.ts";

export const aTenant: TenantId = tenantId("tenant1");
export const anotherTenant: TenantId = tenantId("tenant2");
export const aFlow = flowLaneId(aTenant, "k");
export const aQueue = queueId(aTenant, "queue");
export const anOwner = owner("deliverer-1");
export const anotherOwner = owner("deliverer-2");

/** The position that the embedded store gives at `epochStart` (libs/embedded/src/messages/positions.ts). */
const firstPosition = (epochStart - Date.UTC(2024, 0)) * 4_096;
let position = firstPosition;

/** Returns a random id that no other call has returned; positions grow, all about `epochStart`. */
export function newId(): MessageId {
  position += 1;
  return randomMessageId(position, position.toString(36).padStart(randomLength, "0"));
}

export const aPolicy = (overrides: Partial<Policy> = {}): Policy => ({
  timeoutMs: 60_000,
  retriesMax: 3,
  labels: [],
  ...overrides,
});

export const aCallbackPlan = (overrides: Partial<CallbackPlan> = {}): CallbackPlan => ({
  url: "https://callback.example/",
  method: "POST",
  headers: [],
  delayMs: 0,
  timeoutMs: 60_000,
  ...overrides,
});

/** `flow` puts the message into the lane of that key; `now` is when it was accepted. */
export type MessageOverrides = Partial<Omit<Message, "flow" | "shard" | "createdAt">> & {
  readonly now?: number;
  readonly delayMs?: number;
  readonly flow?: { readonly key: string; readonly limits: FlowLimits };
};

export function aMessage(overrides: MessageOverrides = {}): Message {
  const { now = epochStart, delayMs = 0, flow, ...given } = overrides;
  const id = given.id ?? newId();
  const tenant = given.tenant ?? aTenant;
  const settings = flow ?? given.policy?.flow;
  const lanes = {
    ...(given.queue !== undefined && { queue: given.queue }),
    ...(settings && { flow: flowLaneId(tenant, settings.key) }),
  };
  return {
    id,
    tenant,
    dialect: "service",
    shard: shardOfMessage({ id, ...lanes }),
    createdAt: now,
    notBefore: now + delayMs,
    url: "https://destination.example/hook",
    method: "POST",
    headers: [["Content-Type", "text/plain"]],
    body: new TextEncoder().encode("hello"),
    origin: { callerIp: "203.0.113.7", hop: 0 },
    ...given,
    policy: { ...(given.policy ?? aPolicy()), ...(settings && { flow: settings }) },
    ...lanes,
  };
}

const anAcceptedRecord = (overrides: MessageOverrides = {}): MessageRecord =>
  accept(aMessage(overrides), overrides.now ?? epochStart);

export function aClaimedRecord(
  overrides: MessageOverrides & Partial<Progress> = {},
): InState<"claimed"> {
  const { retried, leaseLosses, deferrals, outbox, ...message } = overrides;
  const record = claim(anAcceptedRecord(message), anOwner, overrides.now ?? epochStart);
  return {
    ...record,
    ...(retried !== undefined && { retried }),
    ...(leaseLosses !== undefined && { leaseLosses }),
    ...(deferrals !== undefined && { deferrals }),
    ...(outbox && { outbox }),
  };
}

/** The changing part of a record without its state. */
export type Progress = {
  readonly retried: number;
  readonly leaseLosses: number;
  readonly deferrals: number;
  readonly outbox: readonly FollowUp[];
};

export function aRecordIn<S extends MessageState>(
  state: S,
  overrides: MessageOverrides & Partial<Progress & { readonly epoch: number }> = {},
): MessageRecord<S> {
  const {
    retried = 0,
    leaseLosses = 0,
    deferrals = 0,
    outbox = [],
    epoch = 1,
    ...message
  } = overrides;
  const now = overrides.now ?? epochStart;
  const wakeAt = alarmOf(state, outbox.length > 0, now);
  return {
    message: aMessage(message),
    state,
    wakeAt,
    epoch,
    retried,
    leaseLosses,
    deferrals,
    outbox,
  };
}

export const liveStates = (
  now = epochStart,
): readonly Extract<MessageState, { kind: LiveKind }>[] => [
  { kind: "held", dueAt: now + 60_000 },
  { kind: "held", dueAt: now },
  { kind: "waiting", flow: aFlow },
  { kind: "due", hints: 0 },
  { kind: "due", hints: 3, grantUntil: now + 30_000 },
  { kind: "due", hints: 0, grantUntil: now },
  { kind: "claimed", owner: anOwner, leaseUntil: now + 30_000 },
  { kind: "claimed", owner: anOwner, leaseUntil: now },
];

export const finishedStates = (
  now = epochStart,
): readonly Exclude<MessageState, { kind: LiveKind }>[] => [
  { kind: "delivered", endedAt: now },
  { kind: "failed", endedAt: now },
  { kind: "canceled", endedAt: now },
];
