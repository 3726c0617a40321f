/**
 * The records of messages. Every call takes many and answers for each; every write is a conditional write on a single record.
 * Due times are compared with the store's clock, so no call takes a time for that.
 *
 * A write that puts a record into `waiting` also moves its lane's alarm to now, first or in the same transaction (I3).
 * A call that rejects has an unknown outcome: repeating it with the same arguments is safe.
 */
import {
  type AttemptFact,
  type DeduplicationKey,
  type FollowUp,
  type FollowUpKind,
  type InState,
  type LiveFilter,
  type Message,
  type MessageId,
  type MessageRecord,
  type Owner,
  type Progress,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import { type Intake } from "./intake.ts";

/** Look at this now. Losing one costs time, never a message. */
export type Hint = {
  readonly id: MessageId;
  readonly tenant: TenantId;
  /** Hash of the destination's origin, for fairness. */
  readonly origin: number;
  readonly epoch: number;
  /** The partition to say it on, where one process is to hear it. It does not travel. */
  readonly to?: number;
  /** It was claimed by its insert for the owner that it names: nothing has to be claimed or read. */
  readonly record?: InState<"claimed">;
  /** Size of the body, so that its reader knows beforehand what it will hold. Absent: not known, as in hints of an earlier version. */
  readonly bytes?: number;
};

export type Insert = {
  readonly record: MessageRecord;
  /** Windows to confirm with the record, by stores that keep both; the rest leave that to `TokenStore.confirm`. */
  readonly deduplication?: readonly DeduplicationEntry[];
};
export type DeduplicationEntry = { readonly key: DeduplicationKey; readonly id: MessageId };

/** `known`: the id or its tombstone was there already, which is success. */
export type Inserted = "inserted" | "known";

export type Settled =
  | {
      readonly kind: "ok";
      /** The follow-ups that the write did not itself make safe. */
      readonly left: readonly FollowUp[];
      /** The record has ended with nothing to follow: its settler writes this to the log. Should it die before, removal does. */
      readonly owed?: AttemptFact;
    }
  | { readonly kind: "fenced" };

export type Canceled =
  /** `was`: the state kind before, so that a running attempt can be aborted and a slot released. */
  | {
      readonly kind: "canceled";
      /** Without its body, which nothing needs any more. */
      readonly message: Message;
      readonly was: MessageRecord["state"]["kind"];
      readonly left: readonly FollowUp[];
    }
  | { readonly kind: "unknown" };

/** `flow`: the lane that it was in, or had a slot of. */
export type Dropped = Pick<Message, "id" | "flow">;

export type Released =
  /** Its scheduler is to be told. */
  | { readonly kind: "released"; readonly shard: number }
  /** The message does not wait for a time; or its turn in a queue decides, or the sleep of its step. */
  | { readonly kind: "unknown" | "inQueue" | "asleep" };

/** `left`: not read, since there was no room for more. */
export type Some = {
  readonly records: readonly MessageRecord[];
  readonly left: readonly MessageId[];
};

export type OutboxItemRef = {
  readonly id: MessageId;
  readonly attempt: number;
  readonly item: FollowUpKind;
};

/** Some steps of a walk through the live messages of a tenant. */
export type Walk = {
  /** Where the step before said that the next goes on. Absent: from the beginning. */
  readonly after?: string;
  /** What was made later is not found: `id` is one of the store's, made at the time `at`. Children are as old as their group publish. */
  readonly upTo: { readonly id: MessageId; readonly at: number };
  /** A step ends after so many that match. */
  readonly foundMax: number;
  /** A step ends after so many records, of all tenants, that match or not. */
  readonly lookedMax: number;
};

export type ClaimRef = {
  readonly id: MessageId;
  readonly epoch: number;
  /** Its call begins now, and what was renewed so far was a place in line: it counts as if it was claimed now. */
  readonly begins?: true;
};

export type Walked = {
  readonly ids: readonly MessageId[];
  /** Absent at the end. */
  readonly next?: string;
};

export interface Records {
  /** Durable when it resolves (I1). A record's lane row is made, or takes the record's limits, with it; its place in line is given here. */
  insert(inserts: readonly Insert[], intake: Intake): Promise<readonly Inserted[]>;
  /** Of `ids` those claimable now, each to exactly one claimer, with bodies. */
  claim(ids: readonly MessageId[], owner: Owner): Promise<readonly InState<"claimed">[]>;
  /** The oldest due records of a tenant whose destination's origin is none of `exceptOrigins`, for a buffer that has drained. */
  pull(tenant: TenantId, limit: number, exceptOrigins: readonly number[]): Promise<readonly Hint[]>;
  /** Extends leases that still hold by `leaseMs` from now. Answers those that do not. */
  renew(claims: readonly ClaimRef[]): Promise<readonly MessageId[]>;
  /** A miss at the same epoch is our own earlier write whose answer was lost: `ok`. */
  settle(settlements: readonly Settlement[]): Promise<readonly Settled[]>;
  /** Removes outbox items that are safe elsewhere. */
  clear(items: readonly OutboxItemRef[]): Promise<void>;
  cancel(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly Canceled[]>;
  /** Messages of a run that has ended: those that are not running are over. Answers them. */
  drop(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly Dropped[]>;
  /** What waits for its time, a delay or a retry, has its alarm now. */
  release(tenant: TenantId, id: MessageId): Promise<Released>;
  /** One step of a walk in the order of the store's keys, which reads no bodies. */
  matching(tenant: TenantId, filter: LiveFilter, walk: Walk): Promise<Walked>;
  /** With the body. A finished record until it is swept. */
  get(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (MessageRecord | undefined)[]>;
  /** Of `ids` those that are there, whole: as many as `limits.readBytesMax` holds, and one at least. */
  getSome(tenant: TenantId, ids: readonly MessageId[]): Promise<Some>;
  /** No bodies are read for it. */
  progress(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (Progress | undefined)[]>;
  /**
   * Removes records that ended before `endedBefore` and have no outbox, and fan-outs without children, keeping tombstones
   * of derived ids. What a settler still owed to the log is written before. Answers how many.
   */
  removeFinished(shards: readonly number[], endedBefore: number, limit: number): Promise<number>;
  /** About since when the oldest of the tenant's due records has been due; of the first `dueSinceRowsMax` where there are more. Absent: none is. */
  dueSince(tenant: TenantId): Promise<number | undefined>;
  /** Unfinished records of a tenant, for the backlog quota; may lag by seconds. A count that is later has on top what this process inserted since. */
  backlog(tenant: TenantId): Promise<number>;
}
