/** Extends leases that have not ended, over connections of its own, so that slow calls cost no claims. */
import { tooFarAheadAfter, limits, leaseNow } from "@posthaste/domain";
import { type ClaimRef } from "@posthaste/ports";
import { type AnyBulkWriteOperation, type Filter } from "mongodb";
import { type Connection } from "../connection.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { collectionName, type StoredRecord } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

type Span = { readonly heldFrom: number; readonly now: number; readonly until: number };

/**
 * Resolves to whether each claim still holds. One statement extends all claims of an epoch: a deliverer holds
 * thousands, and renews each every ten seconds.
 */
export function createRenew({ again, clock, collection }: Connection): Gather<ClaimRef, boolean> {
  const messages = collection<StoredRecord>(collectionName);
  return createGather(async (claims) => {
    const now = clock.now();
    const until = now + limits.leaseMs;
    const span = { heldFrom: leaseNow(now, clock.setAheadMs()), now, until };
    const extend = (outbox: Outbox) => writeAll(again, messages, extending(claims, span, outbox));
    const { matched } = await extend("empty");
    if (matched === claims.length) return claims.map(() => true);
    // An outbox may be cleared between the two statements.
    await extend("any");
    // A claim also holds if another renewal of this process has extended it further meanwhile.
    const filter = {
      _id: { $in: claims.map(({ id }) => id) },
      state: "claimed" as const,
      leaseUntil: { $gte: until },
    };
    const held = await again(() => messages.find(filter, { projection: { epoch: 1 } }).toArray());
    const epochs = new Map(held.map(({ _id, epoch }) => [_id, epoch]));
    return claims.map(({ id, epoch }) => epochs.get(id) === epoch);
  });
}

/** A record with an outbox keeps its alarm however long the attempt runs (docs/design/record#the-outbox). */
type Outbox = "empty" | "any";

/** Returns the update of a renewal. A lease is never made shorter, unless it was given by a clock that was ahead. */
function extending(
  claims: readonly ClaimRef[],
  { heldFrom, now, until }: Span,
  outbox: Outbox,
): readonly AnyBulkWriteOperation<StoredRecord>[] {
  const held: Filter<StoredRecord> = {
    state: "claimed",
    ...(outbox === "empty" && { outbox: { $size: 0 } }),
    $or: [
      { leaseUntil: { $gt: heldFrom, $lte: until } },
      { leaseUntil: { $gt: tooFarAheadAfter(limits.leaseMs, now) } },
    ],
  };
  const $set = { leaseUntil: until, ...(outbox === "empty" && { wakeAt: until }) };
  const alike = Map.groupBy(claims, ({ epoch, begins = false }) => `${epoch} ${begins}`);
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { epoch, begins } = first;
    // Sorted, so that two concurrent statements cannot deadlock.
    const _id = { $in: group.map(({ id }) => id).sort() };
    const update = begins
      ? { $set, $unset: { renewed: "" as const } }
      : { $set: { ...$set, renewed: true as const } };
    return [{ updateMany: { filter: { _id, epoch, ...held }, update } }];
  });
}
