/** Renewing: extends leases that still hold, over connections of its own, so that slow calls do not cost claims. */
import { limits, type MessageId } from "@posthaste/domain";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Connection } from "../connection.ts";
import { createGather, type Gather } from "../gather.ts";
import { collectionName, type StoredRecord } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Renewal = { readonly id: MessageId; readonly epoch: number };

/** Answers whether the claim still holds. */
export function createRenew({ again, clock, collection }: Connection): Gather<Renewal, boolean> {
  const messages = collection<StoredRecord>(collectionName);
  return createGather(async (claims) => {
    const now = clock.now();
    const until = now + limits.leaseMs;
    const operations = claims.flatMap((claim) => renewing(claim, now, until));
    const { matched } = await writeAll(again, messages, operations);
    if (matched === operations.length) return claims.map(() => true);
    const filter = { _id: { $in: claims.map(({ id }) => id) }, leaseUntil: until };
    const held = await again(() => messages.find(filter, { projection: { epoch: 1 } }).toArray());
    const epochs = new Map(held.map(({ _id, epoch }) => [_id, epoch]));
    return claims.map(({ id, epoch }) => epochs.get(id) === epoch);
  });
}

/** An outbox keeps its alarm however long the attempt runs (docs/design/record#the-outbox). */
function renewing(
  { id: _id, epoch }: Renewal,
  now: number,
  until: number,
): readonly AnyBulkWriteOperation<StoredRecord>[] {
  const held = { _id, epoch, state: "claimed", leaseUntil: { $gt: now } } as const;
  return [
    { updateOne: { filter: held, update: { $set: { leaseUntil: until } } } },
    {
      updateOne: {
        filter: { ...held, outbox: { $size: 0 } },
        update: { $set: { wakeAt: until } },
      },
    },
  ];
}
