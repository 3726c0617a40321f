/**
 * Removes the documents of records. Derived ids leave a tombstone, since their cause may be worked again. Messages
 * published with a deduplication id leave one for a while, since the publish may be repeated.
 */
import { isDerived, limits, type MessageId } from "@posthaste/domain";
import { type AnyBulkWriteOperation, type Filter } from "mongodb";
import { type Store } from "./store.ts";
import { type StoredRecord } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

/** `where`: a further condition on the documents. */
export async function removeOrBury(
  { again, messages, clock }: Pick<Store, "again" | "clock" | "messages">,
  records: readonly Pick<StoredRecord, "_id" | "repeatableUntil">[],
  where: Filter<StoredRecord> = {},
): Promise<void> {
  const now = clock.now();
  const operations: AnyBulkWriteOperation<StoredRecord>[] = [];
  const gone: MessageId[] = [];
  for (const record of records) {
    const { _id } = record;
    const until = buriedUntil(record, now);
    if (until <= now) gone.push(_id);
    else
      operations.push({ replaceOne: { filter: { _id, ...where }, replacement: tombstone(until) } });
  }
  if (gone.length > 0)
    operations.push({ deleteMany: { filter: { _id: { $in: gone }, ...where } } });
  await writeAll(again, messages, operations);
}

/** Returns the time until which the id needs a tombstone; a time in the past if it needs none. */
export const buriedUntil = (
  { _id, repeatableUntil = 0 }: Pick<StoredRecord, "_id" | "repeatableUntil">,
  now: number,
): number => (isDerived(_id) ? now + limits.tombstoneMs : repeatableUntil);

const tombstone = (tombstoneUntil: number) => ({ tombstoneUntil }) as Omit<StoredRecord, "_id">;
