/**
 * Claims records with two calls for any number: an update of all claimable ones with a token of this batch, then a
 * find by that token. So each record goes to exactly one claimer, even after a lost reply
 * (docs/design/record#claims-leases-epochs). A claim of one record first tries to claim and read a free one in one
 * call, as a busy queue needs it again and again.
 */
import {
  tooFarAheadAfter,
  type InState,
  limits,
  lossOf,
  type LiveKind,
  type MessageId,
  type MessageState,
  type Owner,
  leaseNow,
} from "@posthaste/domain";
import { type AnyBulkWriteOperation, type Filter } from "mongodb";
import { createGather, type Gather } from "../writes/gather.ts";
import { type Reading } from "./read.ts";
import { inOneReply, type Store } from "./store.ts";
import { claimedFrom, isKnownFormat, type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

export type Claim = { readonly id: MessageId; readonly owner: Owner };

export function createClaim(
  store: Store,
  reading: Reading,
): Gather<Claim, InState<"claimed"> | undefined> {
  return createGather(async (claims) => {
    const claimedBy = store.token();
    const free = await claimFree(store, claims, claimedBy);
    const found = free ? [free] : await claimAll(store, claims, claimedBy);
    const records = await reading.withBodies(found, claimedFrom);
    const left = new Map(records.map((record) => [record.message.id, record]));
    return claims.map(({ id, owner }) => {
      const record = left.get(id);
      if (record?.state.owner !== owner) return undefined;
      left.delete(id);
      return record;
    });
  });
}

async function claimAll(
  { again, clock, messages }: Store,
  claims: readonly Claim[],
  claimedBy: string,
): Promise<readonly StoredRecord[]> {
  const now = clock.now();
  const operations = [...Map.groupBy(claims, ({ owner }) => owner)].flatMap(([owner, group]) =>
    claiming(
      group.map(({ id }) => id),
      { kind: "claimed", owner, leaseUntil: now + limits.leaseMs },
      claimedBy,
      { now, setAheadMs: clock.setAheadMs() },
    ),
  );
  await writeAll(again, messages, operations);
  const ids = [...new Set(claims.map(({ id }) => id))];
  const filter: Filter<StoredRecord> = { _id: { $in: ids }, claimedBy, state: "claimed" };
  return again(() => messages.find(filter, inOneReply).toArray());
}

/** Claims the only record, if it is free. Also resolves to undefined if the reply to a claim that held was lost. */
async function claimFree(
  { again, clock, messages }: Store,
  claims: readonly Claim[],
  claimedBy: string,
): Promise<StoredRecord | undefined> {
  const [only] = claims;
  if (!only || claims.length > 1) return undefined;
  const { id, owner } = only;
  const now = clock.now();
  const state = { kind: "claimed", owner, leaseUntil: now + limits.leaseMs } as const;
  const { $set, $unset } = stateWrite(state, state.leaseUntil, now);
  const update = { $set: { ...$set, claimedBy }, $unset, $inc: { epoch: 1 } };
  const filter = { _id: id, ...isKnownFormat, $or: [...unclaimed(now)] };
  const asked = { returnDocument: "after" } as const;
  return (await again(() => messages.findOneAndUpdate(filter, update, asked))) ?? undefined;
}

/** Returns the update of a claim. A claim that replaces an expired lease counts it as lost. */
function claiming(
  ids: readonly MessageId[],
  state: Extract<MessageState, { kind: "claimed" }>,
  claimedBy: string,
  { now, setAheadMs }: { readonly now: number; readonly setAheadMs: number },
): readonly AnyBulkWriteOperation<StoredRecord>[] {
  const { $set, $unset } = stateWrite(state, state.leaseUntil, now);
  const those = { _id: { $in: [...ids] }, ...isKnownFormat };
  const update = (leaseLosses: number) => ({
    $set: { ...$set, claimedBy },
    $unset,
    $inc: { epoch: 1, ...(leaseLosses > 0 && { leaseLosses }) },
  });
  const isPast = leaseIsPast(now, setAheadMs);
  const lost = (filter: Filter<StoredRecord>, losses: number) => ({
    updateMany: { filter: { ...those, ...filter }, update: update(losses) },
  });
  return [
    { updateMany: { filter: { ...those, $or: [...unclaimed(now)] }, update: update(0) } },
    lost({ ...isPast, renewed: { $exists: false } }, lossOf(state)),
    lost({ ...isPast, renewed: true }, lossOf({ ...state, renewed: true })),
  ];
}

/** The filter for `isClaimable` of the domain. */
const unclaimed = (now: number): readonly Filter<StoredRecord>[] => [
  { state: "due" satisfies LiveKind, ...grantHolds(now) },
  { state: "held" satisfies LiveKind, dueAt: { $lte: now }, lane: { $exists: false } },
];
/** The filter for `isLeaseOver` of the domain. */
const leaseIsPast = (now: number, setAheadMs: number): Filter<StoredRecord> => ({
  state: "claimed" satisfies LiveKind,
  $or: [
    { leaseUntil: { $lte: leaseNow(now, setAheadMs) } },
    { leaseUntil: { $gt: tooFarAheadAfter(limits.leaseMs, now) } },
  ],
});
export const grantHolds = (now: number): Filter<StoredRecord> => ({
  grantUntil: { $not: { $lte: now } },
});
