/**
 * Identifiers, and the shards of records. A message id is either *random* (`msg_` + 9 characters of position + 17 of chance) or *derived* from
 * its cause (`<parent>_<suffix>`), so that doing a follow-up twice has the effect of once. No id contains `/`, `,` or
 * `:`.
 */
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type TenantId = Brand<string, "TenantId">;
export type MessageId = Brand<string, "MessageId">;
export type DlqId = Brand<string, "DlqId">;
export type ScheduleId = Brand<string, "ScheduleId">;
export type BulkActionId = Brand<string, "BulkActionId">;
/** The caller's own name of a run; may be used again when the run has ended. */
export type RunId = Brand<string, "RunId">;
/** Names one run for ever: the tenant, the run's id, and which use of that id it is. */
export type RunKey = Brand<string, "RunKey">;
/** Contains the tenant, so two tenants never share a lane. */
export type LaneId = QueueId | FlowId;
export type QueueId = Brand<string, "QueueId">;
export type FlowId = Brand<string, "FlowId">;
/** The process that holds a claim. */
export type Owner = Brand<string, "Owner">;

export const tenantId = (text: string): TenantId => text as TenantId;
export const messageId = (text: string): MessageId => text as MessageId;
export const dlqId = (text: string): DlqId => text as DlqId;
export const scheduleId = (text: string): ScheduleId => text as ScheduleId;
export const bulkActionId = (text: string): BulkActionId => text as BulkActionId;
export const runId = (text: string): RunId => text as RunId;
export const flowId = (text: string): FlowId => text as FlowId;
export const owner = (text: string): Owner => text as Owner;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const prefix = "msg_";
const positionLength = 9;
export const randomLength = 17;
const randomIdLength = prefix.length + positionLength + randomLength;

/**
 * Makes a random id. `position` is a safe integer that grows from message to message of one store; stores may use it as
 * their key.
 */
export function randomMessageId(position: number, random: string): MessageId {
  let digits = "";
  let rest = position;
  for (let i = 0; i < positionLength; i++) {
    const high = Math.floor(rest / 62);
    digits = alphabet.charAt(rest - high * 62) + digits;
    rest = high;
  }
  return (prefix + digits + random) as MessageId;
}

/** Returns the position inside a random id; undefined for derived ids and for any other text. */
export function positionOf(id: string): number | undefined {
  if (id.length !== randomIdLength || !id.startsWith(prefix)) return undefined;
  let position = 0;
  for (let i = prefix.length; i < prefix.length + positionLength; i++) {
    const digit = alphabet.indexOf(id.charAt(i));
    if (digit < 0) return undefined;
    position = position * 62 + digit;
  }
  return Number.isSafeInteger(position) ? position : undefined;
}

export const callbackId = (source: MessageId, attempt: number): MessageId =>
  messageId(`${source}_cb${attempt}`);
export const failureCallbackId = (source: MessageId): MessageId => messageId(`${source}_fcb`);
/** Returns the id of a fan-out's child. The `n` keeps it apart from callback ids: `cb0` is a number to the base 32, too. */
export const childId = (parent: MessageId, index: number): MessageId =>
  messageId(`${parent}_n${index.toString(32)}`);

/** Returns the id of a slot's message: `position` belongs to the slot's time, `uid` to the schedule. */
export const slotId = (position: number, uid: string): MessageId =>
  messageId(`${randomMessageId(position, uid.slice(0, randomLength))}_s`);

const letterDigestLength = 23;

/**
 * Returns the id of a retried dead letter's message: `position` belongs to the time of failure, `digest` is the
 * letter's name hashed, in hex.
 */
export const retriedLetterId = (position: number, digest: string): MessageId =>
  randomMessageId(position, digest.slice(0, letterDigestLength));

export const runKey = (tenant: TenantId, id: RunId, generation: number): RunKey =>
  `${tenant}/${id}/${generation}` as RunKey;

/** Returns the id of the message of a run's part. The start of a run has the id `root` itself. */
export const runMessageId = (root: MessageId, part: string): MessageId =>
  part === "start" ? root : messageId(`${root}_r${part}`);

/** Returns the fan-out that a child's id names, and the child's index among the endpoints; undefined for other ids. */
export function parentOf(id: MessageId): { parent: MessageId; index: number } | undefined {
  const match = /^(msg_[0-9A-Za-z]{26}(?:_s)?)_n(0|[1-9a-v][0-9a-v]{0,3})$/.exec(id);
  if (!match?.[1] || !match[2]) return undefined;
  return { parent: messageId(match[1]), index: Number.parseInt(match[2], 32) };
}

/** Reports whether an id is derived. Derived ids leave a tombstone, since their cause may be worked again. */
export const isDerived = (id: MessageId): boolean => id.length !== randomIdLength;

/** Returns the id of a dead letter, which sorts by the time of failure (docs/design/wire#dead-letters). */
export const dlqIdOf = (id: MessageId, failedAt: number): DlqId =>
  dlqId(`${failedAt}-${hashText(id)}`);

export const isQueueId = (id: LaneId): id is QueueId => id.startsWith("queue:");

export const queueId = (tenant: TenantId, name: string): QueueId =>
  `queue:${tenant}:${name}` as QueueId;
export const queueNameOf = (tenant: TenantId, id: QueueId): string =>
  id.slice(queueId(tenant, "").length);

/** Returns the tenant in a lane's id, which is between the first two colons: a tenant's id contains none. */
export const tenantOfLane = (id: LaneId): string => id.split(":", 2)[1] ?? "";

/** Returns the lane that counts all calls of a tenant for the cap of its plan. The lane has slots and no line. */
export const callsOf = (tenant: TenantId): FlowId => `all:${tenant}` as FlowId;

export const flowLaneId = (tenant: TenantId, key: string): FlowId =>
  `flow:${tenant}:${key}` as FlowId;

/** 64 for ever: the number of processes may change, the shard of a record may not. */
export const shardCount = 64;
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

export const shardOf = (id: MessageId | LaneId): number => hash32(id) % shardCount;

/** The tenant is part of the hash, since each tenant names its own schedules. */
export const shardOfSchedule = (tenant: TenantId, id: ScheduleId): number =>
  hash32(`schedule:${tenant}:${id}`) % shardCount;

/** Returns the FNV-1a hash of a text, which is not cryptographic, for shards and the origins of URLs. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Joins two independent hashes of a text, for the readable tail of a dead letter's id. */
function hashText(text: string): string {
  const high = hash32(text).toString(36).padStart(7, "0");
  const low = hash32(`${text.length}:${text}:`).toString(36).padStart(7, "0");
  return high + low;
}
