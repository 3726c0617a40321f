/**
 * The records of messages. Every call takes many and returns a result for each. Every write is a conditional write on a single
 * record. The store compares due times with its own clock, so no call takes a time for that.
 *
 * A write that puts a record into `waiting` also moves its lane's alarm to now, first or in the same transaction (I3). A call
 * that rejects has an unknown outcome; repeating it with the same arguments is safe.
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

/** Asks deliverers to look at a message now. Losing a hint costs time, never a message. */
export type Hint = {
  readonly id: MessageId;
  readonly tenant: TenantId;
  /** Hash of the destination's origin, for fairness. */
  readonly origin: number;
  readonly epoch: number;
  /** The partition to publish to, if one process is to receive the hint. Not transmitted. */
  readonly to?: number;
  /** The record, if its insert claimed it for a named owner; that owner need neither claim nor read it. */
  readonly record?: InState<"claimed">;
  /** Size of the body, so that a reader knows how much it will hold. */
  readonly bytes: number;
};

export type Insert = {
  readonly record: MessageRecord;
  /**
   * The deduplication windows to confirm with the record, in stores that keep both. Other stores leave that to
   * `TokenStore.confirm`.
   */
  readonly deduplication?: readonly DeduplicationEntry[];
};
export type DeduplicationEntry = { readonly key: DeduplicationKey; readonly id: MessageId };

/** `known`: the id or its tombstone existed already, which is success. */
export type Inserted = "inserted" | "known";

export type Settled =
  | {
      readonly kind: "ok";
      /** The follow-ups that the write did not itself make safe. */
      readonly left: readonly FollowUp[];
      /**
       * Set when the record has ended with nothing to follow: the deliverer writes this fact to the log. If it dies
       * before, the removal of the record does.
       */
      readonly owed?: AttemptFact;
    }
  | { readonly kind: "fenced" };

export type Canceled =
  /** `was`: the kind of the state before, so that a running attempt can be aborted and a slot released. */
  | {
      readonly kind: "canceled";
      /** The message without its body. */
      readonly message: Message;
      readonly was: MessageRecord["state"]["kind"];
      readonly left: readonly FollowUp[];
      /** Set when nothing else follows: the canceller writes this fact to the log. If it dies before, the removal of the record does. */
      readonly owed?: AttemptFact;
    }
  | { readonly kind: "unknown" };

/** `flow`: the lane in which the message waited or held a slot. */
export type Dropped = Pick<Message, "id" | "flow">;

export type Released =
  /** The alarm is now; the caller wakes the scheduler of `shard`. */
  | { readonly kind: "released"; readonly shard: number }
  /** The message does not wait for a time; or its turn in a queue, or the sleep of its step, decides. */
  | { readonly kind: "unknown" | "inQueue" | "asleep" };

/** `left`: the ids not read, since their bodies do not fit. */
export type Some = {
  readonly records: readonly MessageRecord[];
  readonly left: readonly MessageId[];
};

export type OutboxItemRef = {
  readonly id: MessageId;
  readonly attempt: number;
  readonly item: FollowUpKind;
};

/** The bounds of one step of a walk through a tenant's live messages. */
export type Walk = {
  /** The place at which the step before said that the next begins. Absent for the beginning. */
  readonly after?: string;
  /**
   * The walk skips messages made later: `id` is an id of the store, made at the time `at`. Children count as old as their group
   * publish.
   */
  readonly upTo: { readonly id: MessageId; readonly at: number };
  /** The number of matching records at which a step ends. */
  readonly foundMax: number;
  /** The number of records, matching or not, at which a step ends. */
  readonly lookedMax: number;
};

export type ClaimRef = {
  readonly id: MessageId;
  readonly epoch: number;
  /** The call begins now, and the renewals so far kept a place in line: the claim counts as if it was made now. */
  readonly begins?: true;
};

export type Walked = {
  readonly ids: readonly MessageId[];
  /** Absent at the end. */
  readonly next?: string;
};

export interface Records {
  /**
   * Inserts records; durable when it resolves (I1). Also makes a record's lane row, or gives it the record's limits. The record
   * gets its place in line here.
   */
  insert(inserts: readonly Insert[], intake: Intake): Promise<readonly Inserted[]>;
  /** Claims the records of `ids` that are claimable now, each for exactly one claimer, and returns them with bodies. */
  claim(ids: readonly MessageId[], owner: Owner): Promise<readonly InState<"claimed">[]>;
  /** Returns the oldest due records of a tenant whose destination's origin is not in `exceptOrigins`, for a buffer that has drained. */
  pull(tenant: TenantId, limit: number, exceptOrigins: readonly number[]): Promise<readonly Hint[]>;
  /** Extends the leases that still hold by `leaseMs` from now. Returns the ids of the lost ones. */
  renew(claims: readonly ClaimRef[]): Promise<readonly MessageId[]>;
  /** Settles attempts. A miss at the same epoch is an earlier write of this process whose answer was lost, and counts as `ok`. */
  settle(settlements: readonly Settlement[]): Promise<readonly Settled[]>;
  /** Removes outbox items whose consequences are safe elsewhere. */
  clear(items: readonly OutboxItemRef[]): Promise<void>;
  cancel(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly Canceled[]>;
  /** Ends the messages of an ended run, except those that are running. Returns the ended ones. */
  drop(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly Dropped[]>;
  /** Sets the alarm of a message that waits for a delay or a retry to now. */
  release(tenant: TenantId, id: MessageId): Promise<Released>;
  /** Makes one step of a walk in the order of the store's keys. Reads no bodies. */
  matching(tenant: TenantId, filter: LiveFilter, walk: Walk): Promise<Walked>;
  /** Returns records with bodies; a finished record until it is swept. */
  get(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (MessageRecord | undefined)[]>;
  /** Returns the existing records of `ids`, whole: as many as `limits.readBytesMax` holds, and at least one. */
  getSome(tenant: TenantId, ids: readonly MessageId[]): Promise<Some>;
  /** Reads no bodies. */
  progress(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (Progress | undefined)[]>;
  /**
   * Removes records that ended before `endedBefore` and have no outbox, and fan-outs without children; keeps
   * tombstones of derived ids. Before that, writes the events that a settler still owed to the log. Leaves to
   * `KeptBodies` the bodies of messages that did not fail, if `mayKeepBody` holds and `keeps` does not say otherwise.
   * Returns how many.
   */
  removeFinished(
    shards: readonly number[],
    endedBefore: number,
    limit: number,
    keeps?: (tenant: TenantId) => boolean,
  ): Promise<number>;
  /**
   * Returns about since when the oldest due record of the tenant has been due, by at most `dueSinceRowsMax` records.
   * Undefined if no record is due.
   */
  dueSince(tenant: TenantId): Promise<number | undefined>;
  /**
   * Counts the unfinished records of a tenant, for the backlog quota; may lag by seconds. A count that lags includes the inserts
   * of this process since.
   */
  backlog(tenant: TenantId): Promise<number>;
}
