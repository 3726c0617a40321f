/** Renewing: extends leases that still hold, over connections of its own, so that slow calls do not cost claims. */
import { aheadFrom, limits, leaseNow } from "@posthaste/domain";
import { type ClaimRef } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Connection } from "../connection.ts";
import { createGather, type Gather } from "../gather.ts";
import { collectionName, type StoredRecord } from "./stored.ts";
import { writeAll } from "./writes.ts";

/** Answers whether the claim still holds. */
export function createRenew({ again, clock, collection }: Connection): Gather<ClaimRef, boolean> {
  const messages = collection<StoredRecord>(collectionName);
  return createGather(async (claims) => {
    const now = clock.now();
    const until = now + limits.leaseMs;
    const heldFrom = leaseNow(now, clock.setAheadMs());
    // In one order, so that two statements that meet wait for each other on one side only.
    const operations = claims
      .toSorted(byId)
      .flatMap((claim) => renewing(claim, { heldFrom, now, until }));
    const { matched } = await writeAll(again, messages, operations);
    if (matched === operations.length) return claims.map(() => true);
    // One that another renewal of this process has extended meanwhile, and further, is as good.
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

const byId = (a: ClaimRef, b: ClaimRef): number => (a.id < b.id ? -1 : 1);

/** A lease is never made shorter, unless a clock gave it that was ahead. An outbox keeps its alarm however long the attempt runs (docs/design/record#the-outbox). */
function renewing(
  { id: _id, epoch, begins }: ClaimRef,
  {
    heldFrom,
    now,
    until,
  }: { readonly heldFrom: number; readonly now: number; readonly until: number },
): readonly AnyBulkWriteOperation<StoredRecord>[] {
  const held = { _id, epoch, state: "claimed" } as const;
  const renewed = { $set: { leaseUntil: until, renewed: true } } as const;
  const begun = { $set: { leaseUntil: until }, $unset: { renewed: "" } } as const;
  return [
    {
      updateOne: {
        filter: {
          ...held,
          $or: [
            { leaseUntil: { $gt: heldFrom, $lte: until } },
            { leaseUntil: { $gt: aheadFrom(limits.leaseMs, now) } },
          ],
        },
        update: begins ? begun : renewed,
      },
    },
    {
      updateOne: {
        filter: { ...held, leaseUntil: { $gt: heldFrom }, outbox: { $size: 0 } },
        update: { $set: { wakeAt: until } },
      },
    },
  ];
}
