/**
 * How a record stands in the collection `messages`: one document per record, keyed by the message's id, with what
 * conditions and indexes look at on its first level and the rest of the message below `message`.
 *
 * I1: fields of a state are there in that state only; every write of a state says all of them (`stateWrite`).
 * I2: a tombstone is a document with nothing but `_id` and `tombstoneUntil`: no condition of a read or write meets it.
 */
import {
  type FollowUp,
  type InState,
  isIn,
  type LaneId,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type MessageState,
  originHash,
  type Owner,
  type StateKind,
  type TenantId,
} from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { type Index } from "../indexes.ts";

type StateFields = {
  readonly dueAt?: number;
  readonly hints?: number;
  readonly grantUntil?: number;
  readonly owner?: Owner;
  readonly leaseUntil?: number;
  readonly upTo?: number;
  readonly endedAt?: number;
  /** Finished records: from when on the sweep looks at them. Their end, or later for parents that wait for children. */
  readonly sweepAt?: number;
};

export type StoredRecord = StateFields & {
  readonly _id: MessageId;
  readonly tenant: TenantId;
  readonly shard: number;
  /** Hash of the destination's origin. */
  readonly origin: number;
  readonly state: StateKind;
  readonly wakeAt?: number;
  readonly epoch: number;
  readonly retried: number;
  readonly leaseLosses: number;
  readonly deferrals: number;
  readonly outbox: readonly FollowUp[];
  readonly lane?: LaneId;
  /** In the lane's line; given once. */
  readonly place?: number;
  readonly message: StoredMessage;
  readonly body?: Uint8Array;
  readonly bodyBytes: number;
  /** The group parent that has the body. */
  readonly bodyOf?: MessageId;
  /**
   * Tokens of the batches that inserted, claimed, promoted and last otherwise changed the record: by them a batch whose
   * answer was lost finds what it did (decisions.md 30). Claim and promotion have their own, since one follows the other.
   */
  readonly insertedBy: string;
  readonly claimedBy?: string;
  readonly promotedBy?: string;
  readonly changedBy?: string;
  readonly tombstoneUntil?: number;
};

type StoredMessage = Omit<Message, "id" | "tenant" | "shard" | "flowLane" | "body" | "bodyOf">;

export const collectionName = "messages";

export const messageIndexes: readonly Index[] = [
  { collection: collectionName, key: { shard: 1, wakeAt: 1 }, having: "wakeAt" },
  { collection: collectionName, key: { shard: 1, sweepAt: 1 }, having: "sweepAt" },
  // Pulling goes from origin to origin; counting the backlog needs the first two.
  { collection: collectionName, key: { tenant: 1, state: 1, origin: 1, _id: 1 } },
  { collection: collectionName, key: { lane: 1, state: 1, place: 1, _id: 1 }, having: "lane" },
  { collection: collectionName, key: { bodyOf: 1 }, having: "bodyOf" },
  { collection: collectionName, key: { tombstoneUntil: 1 }, having: "tombstoneUntil" },
  // Which replaced chunks of a group are still needed.
  {
    collection: collectionName,
    key: { "message.fanOut.chunks": 1 },
    having: "message.fanOut.chunks",
  },
];

export const finishedStates: readonly StateKind[] = ["delivered", "failed", "canceled", "expanded"];
export const liveStates: readonly StateKind[] = ["held", "waiting", "due", "claimed", "expanding"];

export function storedFrom(
  record: MessageRecord,
  insertedBy: string,
  place: number | undefined,
  now: number,
): StoredRecord {
  const { message, state, outbox } = record;
  const { id, tenant, shard, flowLane, body, bodyOf, ...rest } = message;
  const wakeAt = alarmBesideLane(state, record.wakeAt, now);
  return {
    _id: id,
    tenant,
    shard,
    origin: originHash(message.url),
    ...fieldsOf(state),
    state: state.kind,
    ...(wakeAt !== undefined && { wakeAt }),
    epoch: record.epoch,
    retried: record.retried,
    leaseLosses: record.leaseLosses,
    deferrals: record.deferrals,
    outbox,
    ...(flowLane !== undefined && { lane: flowLane }),
    ...(place !== undefined && { place }),
    message: rest,
    bodyBytes: body.length,
    ...(bodyOf === undefined ? { body } : { bodyOf }),
    insertedBy,
  };
}

/** `body`: the record's own or its parent's. */
export function recordFrom(stored: StoredRecord, body: Uint8Array): MessageRecord {
  const { _id: id, tenant, shard, lane, bodyOf } = stored;
  const { epoch, retried, leaseLosses, deferrals } = stored;
  const message: Message = {
    ...stored.message,
    id,
    tenant,
    shard,
    body,
    ...(bodyOf !== undefined && { bodyOf }),
    ...(lane !== undefined && { flowLane: lane }),
  };
  return {
    message,
    state: stateFrom(stored),
    wakeAt: stored.wakeAt,
    epoch,
    retried,
    leaseLosses,
    deferrals,
    outbox: stored.outbox.map(followUpFrom),
  };
}

export function claimedFrom(stored: StoredRecord, body: Uint8Array): InState<"claimed"> {
  const record = recordFrom(stored, body);
  if (!isIn(record, "claimed")) throw new Error(`${stored._id} was found as claimed and is not`);
  return record;
}

/** What a hint needs: a projection of `hintFields`. */
export const hintFields = { tenant: 1, origin: 1, epoch: 1 } as const;
export const hintFrom = ({
  _id: id,
  tenant,
  origin,
  epoch,
}: Pick<StoredRecord, "_id" | "tenant" | "origin" | "epoch">): Hint => ({
  id,
  tenant,
  origin,
  epoch,
});

export type StateWrite = {
  readonly $set: Partial<StoredRecord>;
  readonly $unset: Partial<Record<ChangingField, "">>;
};

/** The update that puts a record into `state`, leaving no field of the state before. */
export function stateWrite(
  state: MessageState,
  wakeAt: number | undefined,
  now: number,
): StateWrite {
  const alarm = alarmBesideLane(state, wakeAt, now);
  const $set = {
    ...fieldsOf(state),
    state: state.kind,
    ...(alarm !== undefined && { wakeAt: alarm }),
  };
  const absent = changingFields.filter((field) => !(field in $set));
  return { $set, $unset: Object.fromEntries(absent.map((field) => [field, ""] as const)) };
}

const changingFields = [
  "dueAt",
  "hints",
  "grantUntil",
  "owner",
  "leaseUntil",
  "upTo",
  "endedAt",
  "sweepAt",
  "wakeAt",
] as const satisfies readonly (keyof StoredRecord)[];
type ChangingField = (typeof changingFields)[number];

/**
 * Record and lane are two documents: a granter may look between the two writes, see an empty line and put the lane to
 * rest. So a record gets into line with an alarm of its own, which rings once and sends the lane's again.
 */
function alarmBesideLane(
  state: MessageState,
  wakeAt: number | undefined,
  now: number,
): number | undefined {
  if (state.kind !== "waiting") return wakeAt;
  return Math.min(wakeAt ?? Number.POSITIVE_INFINITY, now + limits.ringAheadMs);
}

function fieldsOf(state: MessageState): StateFields {
  switch (state.kind) {
    case "held":
      return { dueAt: state.dueAt };
    case "waiting":
      return {};
    case "due":
      return {
        hints: state.hints,
        ...(state.grantUntil !== undefined && { grantUntil: state.grantUntil }),
      };
    case "claimed":
      return { owner: state.owner, leaseUntil: state.leaseUntil };
    case "expanding":
      return { upTo: state.upTo };
    case "delivered":
    case "failed":
    case "canceled":
    case "expanded":
      return { endedAt: state.endedAt, sweepAt: state.endedAt };
  }
}

function stateFrom(stored: StoredRecord): MessageState {
  const { state: kind } = stored;
  switch (kind) {
    case "held":
      return { kind, dueAt: present(stored.dueAt) };
    case "waiting":
      return { kind };
    case "due": {
      const { grantUntil } = stored;
      return {
        kind,
        hints: present(stored.hints),
        ...(grantUntil !== undefined && { grantUntil }),
      };
    }
    case "claimed":
      return { kind, owner: present(stored.owner), leaseUntil: present(stored.leaseUntil) };
    case "expanding":
      return { kind, upTo: present(stored.upTo) };
    case "delivered":
    case "failed":
    case "canceled":
    case "expanded":
      return { kind, endedAt: present(stored.endedAt) };
  }
}

function present<T>(field: T | undefined): T {
  if (field === undefined) throw new Error("a stored record lacks a field of its state");
  return field;
}

function followUpFrom(item: FollowUp): FollowUp {
  if (item.response === undefined) return item;
  return { ...item, response: { ...item.response, body: bytes(item.response.body) } };
}
