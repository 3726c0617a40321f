/**
 * The documents of the collection `messages`: one for each record, keyed by the message's id. Fields of conditions
 * and indexes are on the first level, the rest of the message is below `message`.
 *
 * (1) fields of a state are present in that state only; every write of a state sets or unsets all of them
 *     (`stateWrite`).
 * (2) a tombstone is a document with nothing but `_id` and `tombstoneUntil`, and possibly a kept body or answer
 *     (kept-bodies.ts): no condition of a read or write matches it.
 * (3) a plainly delivered record is its own row of the log from its settle on, by `told`. Its removal leaves only the
 *     row, with `rowFormat`, which is removed with the log (ADR 205).
 */
import {
  type RecordSource,
  type FollowUp,
  type InState,
  isFinished,
  isIn,
  type FlowId,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type MessageState,
  originHash,
  type Owner,
  ownFormat,
  sourceOf,
  type StateKind,
  type QueueId,
  type TenantId,
  type TurnOf,
} from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { byTime, type Index } from "../indexes.ts";
import { type OwnTold } from "../message-log/rows.ts";
import { termIndexes } from "../query/conditions.ts";
import { isStoredApart } from "./stored-body.ts";

type StateFields = {
  readonly dueAt?: number;
  readonly waitMs?: number;
  readonly hints?: number;
  readonly grantUntil?: number;
  readonly owner?: Owner;
  readonly leaseUntil?: number;
  readonly renewed?: true;
  readonly endedAt?: number;
  readonly runsUntil?: number;
  /** The time from which the sweep looks at a finished record with an empty outbox. */
  readonly sweepAt?: number;
  /** Replaces `sweepAt` in a record that ended in one write: the log may lack its delivery, so the sweep checks the log. */
  readonly owedSweepAt?: number;
  /** Does for a cancelled record what `owedSweepAt` does for a delivered one. */
  readonly canceledSweepAt?: number;
  /** Replaces `sweepAt` in a record that is its own row of the log: the sweep ends the record and leaves the row. */
  readonly toldSweepAt?: number;
};

/** The field of the alarm for each source: each source has an index of its own. */
type AlarmFields = {
  readonly wakeAt?: number;
  readonly followUpAt?: number;
  readonly factAt?: number;
};
export const alarmFields = {
  record: "wakeAt",
  followUp: "followUpAt",
  fact: "factAt",
} as const satisfies Record<RecordSource, keyof AlarmFields>;

export type StoredRecord = StateFields &
  AlarmFields & {
    readonly _id: MessageId;
    readonly tenant: TenantId;
    readonly format?: number;
    readonly shard: number;
    /** The hash of the destination's origin. */
    readonly origin: number;
    readonly state: StateKind;
    readonly epoch: number;
    readonly retried: number;
    readonly leaseLosses: number;
    readonly deferrals: number;
    readonly outbox: readonly FollowUp[];
    readonly lane?: FlowId;
    /** The places in the lines of lane and queue, given once. */
    readonly place?: number;
    readonly queue?: QueueId;
    readonly queuePlace?: number;
    readonly turnOf?: TurnOf;
    readonly message: StoredMessage;
    readonly body?: Uint8Array;
    readonly bodyBytes: number;
    readonly bodyApart?: true;
    /** The bytes of the run's history, which is sent as the body. */
    readonly runBytes?: number;
    readonly bodyOf?: MessageId;
    /**
     * Tokens of the batches that inserted, claimed, promoted and last otherwise changed the record: a batch whose
     * reply was lost recognizes its own writes by its token (docs/design/record#writes-whose-answer-was-lost). Claim
     * and promotion have fields of their own, since one follows the other.
     */
    readonly insertedBy: string;
    readonly claimedBy?: string;
    readonly promotedBy?: string;
    readonly changedBy?: string;
    /** Until this time the publish may be repeated with its deduplication id: a record removed earlier leaves a tombstone. */
    readonly repeatableUntil?: number;
    readonly tombstoneUntil?: number;
    readonly told?: OwnTold;
    /** The kept part of the answer that delivered the message (kept-bodies.ts). */
    readonly answer?: Uint8Array;
    /** Fields of a kept body (kept-bodies.ts): its tenant, when the message ended, and until when a tombstone is needed. */
    readonly keptOf?: TenantId;
    readonly keptAt?: number;
    readonly buriedUntil?: number;
  };

type StoredMessage = Omit<
  Message,
  "id" | "format" | "tenant" | "shard" | "queue" | "flow" | "body" | "bodyOf" | "turnOf"
>;

export const collectionName = "messages";

/** A finished record with an empty outbox has one of these fields. They are swept in this order. */
export const sweepFields = ["toldSweepAt", "owedSweepAt", "canceledSweepAt", "sweepAt"] as const;

/** Reports whether the log may lack the ends of the records with this field. */
export const isOwedToLog = (field: (typeof sweepFields)[number]): boolean =>
  field === "owedSweepAt" || field === "canceledSweepAt";

export const messageIndexes: readonly Index[] = [
  ...[...Object.values(alarmFields), ...sweepFields].map((field) => byTime(collectionName, field)),
  {
    collection: collectionName,
    key: { tenant: 1, "told.place": 1 },
    having: "told.place",
    is: "needed",
  },
  // Pulling goes from origin to origin; counting the backlog needs the first two fields.
  { collection: collectionName, key: { tenant: 1, state: 1, origin: 1, _id: 1 }, is: "needed" },
  {
    collection: collectionName,
    key: { lane: 1, state: 1, place: 1, _id: 1 },
    having: "lane",
    is: "needed",
  },
  {
    collection: collectionName,
    key: { queue: 1, state: 1, queuePlace: 1, _id: 1 },
    having: "queue",
    is: "needed",
  },
  { collection: collectionName, key: { "turnOf.id": 1 }, having: "turnOf.id", is: "needed" },
  { collection: collectionName, key: { bodyOf: 1 }, having: "bodyOf", is: "needed" },
  {
    collection: collectionName,
    key: { tombstoneUntil: 1 },
    having: "tombstoneUntil",
    is: "needed",
  },
  { collection: collectionName, key: { keptOf: 1, keptAt: 1 }, having: "keptAt", is: "needed" },
  ...termIndexes(collectionName, "message", "_id"),
];

/**
 * The format of a row of the log that is no longer a record: no build, earlier or later, takes it for one. So no
 * condition on records matches it, and its id stays taken.
 */
export const rowFormat = 1_000_000;

/** The fields that a record loses when only its row is left. `state` and `origin` stay, so that their index needs no write. */
export const ofRecordAlone = {
  ...{ body: "", bodyBytes: "", answer: "", outbox: "", epoch: "" },
  ...{ retried: "", leaseLosses: "", deferrals: "" },
  ...{ insertedBy: "", claimedBy: "", changedBy: "" },
  ...{ sweepAt: "", owedSweepAt: "", canceledSweepAt: "", toldSweepAt: "" },
} as const satisfies { readonly [Field in keyof StoredRecord]?: "" };

/** Matches documents of this build's formats; also for lanes and fan-outs. */
export const isKnownFormat = { format: { $not: { $gt: ownFormat } } };

export type Places = {
  readonly place?: number | undefined;
  readonly queuePlace?: number | undefined;
};

export function storedFrom(
  record: MessageRecord,
  insertedBy: string,
  { place, queuePlace }: Places,
  now: number,
): StoredRecord {
  const { message, state, outbox } = record;
  const { id, format, tenant, shard, queue, flow, body, bodyOf, turnOf, ...rest } = message;
  return {
    _id: id,
    tenant,
    ...(format !== undefined && { format }),
    shard,
    origin: originHash(message.url),
    ...stateWrite(state, record.wakeAt, now, sourceOf(state, outbox)).$set,
    state: state.kind,
    epoch: record.epoch,
    retried: record.retried,
    leaseLosses: record.leaseLosses,
    deferrals: record.deferrals,
    outbox,
    ...(flow !== undefined && { lane: flow }),
    ...(place !== undefined && { place }),
    ...(queue !== undefined && { queue }),
    ...(queuePlace !== undefined && { queuePlace }),
    ...(turnOf && { turnOf }),
    message: rest,
    bodyBytes: body.length,
    ...(rest.run && { runBytes: rest.run.bytes }),
    ...(isStoredApart(message)
      ? { bodyApart: true }
      : bodyOf === undefined
        ? { body }
        : { bodyOf }),
    insertedBy,
  };
}

/** Leaves out what may be large: for `recordFrom` without a body. */
export const withoutBodies = { body: 0, "outbox.response": 0 } as const;

/** `body`: the record's own or that of its fan-out, or none if none was read. */
export function recordFrom(
  stored: StoredRecord,
  body: Uint8Array = new Uint8Array(),
): MessageRecord {
  const { _id: id, format, tenant, shard, queue, lane, bodyOf, turnOf } = stored;
  const { epoch, retried, leaseLosses, deferrals } = stored;
  const message: Message = {
    ...stored.message,
    id,
    ...(format !== undefined && { format }),
    tenant,
    shard,
    body,
    ...(bodyOf !== undefined && { bodyOf }),
    ...(queue !== undefined && { queue }),
    ...(lane !== undefined && { flow: lane }),
    ...(turnOf && { turnOf }),
  };
  return {
    message,
    state: stateFrom(stored),
    wakeAt: alarmIn(stored)?.at,
    epoch,
    retried,
    leaseLosses,
    deferrals,
    outbox: stored.outbox.map(followUpFrom),
  };
}

export function alarmIn(
  stored: AlarmFields,
): { readonly field: keyof AlarmFields; readonly at: number } | undefined {
  for (const field of Object.values(alarmFields)) {
    const at = stored[field];
    if (at !== undefined) return { field, at };
  }
  return undefined;
}

export function claimedFrom(stored: StoredRecord, body: Uint8Array): InState<"claimed"> {
  const record = recordFrom(stored, body);
  if (!isIn(record, "claimed"))
    throw new Error(`${stored._id} was found as claimed but is not claimed`);
  return record;
}

export const answerBytesOf = ({ outbox }: Pick<StoredRecord, "outbox">): number =>
  outbox.reduce((bytes, { response }) => bytes + (response?.body.length ?? 0), 0);

export const hintFields = {
  tenant: 1,
  origin: 1,
  epoch: 1,
  bodyBytes: 1,
  runBytes: 1,
} as const;
export type HintDocument = Pick<StoredRecord, "_id" | keyof typeof hintFields>;
export const hintFrom = ({
  _id: id,
  tenant,
  origin,
  epoch,
  bodyBytes,
  runBytes = 0,
}: HintDocument): Hint => ({
  id,
  tenant,
  origin,
  epoch,
  bytes: bodyBytes + runBytes,
});

export type StateWrite = {
  readonly $set: Partial<StoredRecord>;
  readonly $unset: Partial<Record<ChangingField, "">>;
};

/** Returns the update that puts a record into `state` and unsets all fields of the state before. */
export function stateWrite(
  state: MessageState,
  wakeAt: number | undefined,
  now: number,
  source: RecordSource = "record",
): StateWrite {
  const alarm = alarmBesideLane(state, wakeAt, now);
  const $set = {
    ...fieldsOf(state),
    state: state.kind,
    ...(alarm !== undefined && { [alarmFields[source]]: alarm }),
    ...(isFinished(state) && alarm === undefined && { sweepAt: state.endedAt }),
  };
  const absent = changingFields.filter((field) => !(field in $set));
  return { $set, $unset: Object.fromEntries(absent.map((field) => [field, ""] as const)) };
}

const changingFields = [
  "dueAt",
  "waitMs",
  "hints",
  "grantUntil",
  "owner",
  "leaseUntil",
  "renewed",
  "endedAt",
  "runsUntil",
  "sweepAt",
  ...Object.values(alarmFields),
] as const satisfies readonly (keyof StoredRecord)[];
type ChangingField = (typeof changingFields)[number];

/**
 * Returns the alarm of a record that joins a line. Record and lane are two documents: a granter may look between the
 * two writes, see an empty line and put the lane to rest. So the record joins with an alarm of its own, which rings
 * once and sets the lane's alarm again.
 */
function alarmBesideLane(
  state: MessageState,
  wakeAt: number | undefined,
  now: number,
): number | undefined {
  if (state.kind !== "waiting" && state.kind !== "queued") return wakeAt;
  return Math.min(wakeAt ?? Number.POSITIVE_INFINITY, now + limits.ringAheadMs);
}

function fieldsOf(state: MessageState): StateFields {
  switch (state.kind) {
    case "held":
      return {
        dueAt: state.dueAt,
        ...(state.waitMs !== undefined && { waitMs: state.waitMs }),
      };
    case "queued":
    case "waiting":
      return {};
    case "due":
      return {
        hints: state.hints,
        ...(state.grantUntil !== undefined && { grantUntil: state.grantUntil }),
      };
    case "claimed":
      return {
        owner: state.owner,
        leaseUntil: state.leaseUntil,
        ...(state.renewed && { renewed: true }),
      };
    case "canceled":
      return {
        endedAt: state.endedAt,
        ...(state.runsUntil !== undefined && { runsUntil: state.runsUntil }),
      };
    case "delivered":
    case "failed":
      return { endedAt: state.endedAt };
  }
}

export function stateFrom(stored: StoredRecord): MessageState {
  const { state: kind } = stored;
  switch (kind) {
    case "held":
      return {
        kind,
        dueAt: present(stored.dueAt),
        ...(stored.waitMs !== undefined && { waitMs: stored.waitMs }),
      };
    case "queued":
      return { kind, queue: present(stored.queue) };
    case "waiting":
      return { kind, flow: present(stored.lane) };
    case "due": {
      const { grantUntil } = stored;
      return {
        kind,
        hints: present(stored.hints),
        ...(grantUntil !== undefined && { grantUntil }),
      };
    }
    case "claimed":
      return {
        kind,
        owner: present(stored.owner),
        leaseUntil: present(stored.leaseUntil),
        ...(stored.renewed && { renewed: true }),
      };
    case "canceled": {
      const { runsUntil } = stored;
      return {
        kind,
        endedAt: present(stored.endedAt),
        ...(runsUntil !== undefined && { runsUntil }),
      };
    }
    case "delivered":
    case "failed":
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
