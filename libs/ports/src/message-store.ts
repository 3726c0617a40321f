/**
 * The record store. Every call takes many and answers for each; every write is a conditional write on a single record.
 * Due times are compared with the store's clock, so no call takes a time for that.
 *
 * A write that puts a record into `waiting` also moves its lane's alarm to now, first or in the same transaction (I3).
 * A call that rejects has an unknown outcome: repeating it with the same arguments is safe.
 */
import {
  type DeduplicationKey,
  type FollowUp,
  type FollowUpKind,
  type InState,
  type Lane,
  type LaneId,
  type Message,
  type MessageId,
  type MessageRecord,
  type Owner,
  type RateWindow,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";

/** Look at this now. Losing one costs time, never a message. */
export type Hint = {
  readonly id: MessageId;
  readonly tenant: TenantId;
  /** Hash of the destination's origin, for fairness. */
  readonly origin: number;
  readonly epoch: number;
};

export type Insert = {
  readonly record: MessageRecord;
  /** Windows to confirm with the record, by stores that keep both; others leave that to `TokenStore.confirm`. */
  readonly deduplication?: readonly DeduplicationEntry[];
};
export type DeduplicationEntry = { readonly key: DeduplicationKey; readonly id: MessageId };

/** `known`: the id or its tombstone was there already, which is success. */
export type Inserted = "inserted" | "known";

/** `left`: the follow-ups that the write did not itself make safe. */
export type Settled =
  { readonly kind: "ok"; readonly left: readonly FollowUp[] } | { readonly kind: "fenced" };

export type Canceled =
  /** `was`: the state kind before, so that a running attempt can be aborted and a slot released. */
  | {
      readonly kind: "canceled";
      readonly message: Message;
      readonly was: MessageRecord["state"]["kind"];
      readonly left: readonly FollowUp[];
    }
  | { readonly kind: "unknown" };

export type OutboxItemRef = {
  readonly id: MessageId;
  readonly attempt: number;
  readonly item: FollowUpKind;
};

export type Rings = {
  readonly hints: readonly Hint[];
  /** Lanes to grant now: their alarm was due, or a record of theirs has just got into line. */
  readonly lanes: readonly LaneId[];
  readonly expanding: readonly InState<"expanding">[];
  /** Records whose outbox was not cleared in time. */
  readonly followUps: readonly MessageRecord[];
};

/** `seq` counts the entries into the line; it is the fence of `rest`. */
export type LaneRow = Lane & { readonly seq: number };

export interface MessageStore {
  /** Durable when it resolves (I1). A record's lane row is made, or takes the record's limits, with it; its place in line is given here. */
  insert(inserts: readonly Insert[]): Promise<readonly Inserted[]>;
  /** Of `ids` those claimable now, each to exactly one claimer, with bodies. */
  claim(ids: readonly MessageId[], owner: Owner): Promise<readonly InState<"claimed">[]>;
  /** The oldest due records of a tenant whose destination's origin is none of `exceptOrigins`, for a buffer that has drained. */
  pull(tenant: TenantId, limit: number, exceptOrigins: readonly number[]): Promise<readonly Hint[]>;
  /** Extends leases that still hold by `leaseMs` from now. Answers those that do not. */
  renew(
    claims: readonly { readonly id: MessageId; readonly epoch: number }[],
  ): Promise<readonly MessageId[]>;
  /** A miss at the same epoch is our own earlier write whose answer was lost: `ok`. */
  settle(settlements: readonly Settlement[]): Promise<readonly Settled[]>;
  /** Removes outbox items that are safe elsewhere. */
  clear(items: readonly OutboxItemRef[]): Promise<void>;
  cancel(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly Canceled[]>;
  /** With the body. A finished record until it is swept; parents of group publishes too: the caller hides them. */
  get(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (MessageRecord | undefined)[]>;
  /** Writes how far a parent is expanded, where `from` still holds; `done` ends it. False: someone else was faster. */
  expanded(parent: MessageId, from: number, upTo: number, done: boolean): Promise<boolean>;

  /** Rings due alarms of records and lanes in `shards`, moving each ahead. */
  ring(shards: readonly number[], limit: number): Promise<Rings>;
  /** The earliest alarm in `shards`. */
  nextAlarm(shards: readonly number[]): Promise<number | undefined>;
  /** Removes records that ended before `endedBefore` and have no outbox, keeping tombstones of derived ids. Answers how many. */
  removeFinished(shards: readonly number[], endedBefore: number, limit: number): Promise<number>;

  lanes(ids: readonly LaneId[]): Promise<readonly LaneRow[]>;
  /** The first `n` in line. */
  heads(lane: LaneId, n: number): Promise<readonly Hint[]>;
  /** waiting → due with a grant; answers those of `ids` that were still waiting. The lane's row has `window` by then (decisions.md 11). */
  promote(
    lane: LaneId,
    ids: readonly MessageId[],
    grantUntil: number,
    window?: RateWindow,
  ): Promise<readonly MessageId[]>;
  /** After granting: sets the lane's alarm and rate window, if nobody has got into line since `seq` was read. */
  rest(
    lane: LaneId,
    seq: number,
    wakeAt: number | undefined,
    window: RateWindow | undefined,
  ): Promise<boolean>;
  /** Records of a lane that may hold a slot: claimed, or promoted with their grant ahead; `until` is when that ends. */
  slotHolders(lane: LaneId): Promise<readonly { readonly id: MessageId; readonly until: number }[]>;

  /** Unfinished records of a tenant, for the backlog quota; may lag by seconds. */
  backlog(tenant: TenantId): Promise<number>;
}
