/** Takes out of the outboxes what is safe elsewhere. A finished record whose outbox is empty has no alarm any more. */
import { type MessageId } from "@posthaste/domain";
import { type OutboxItemRef } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../gather.ts";
import { type Rooms } from "./rooms.ts";
import { finishedStates, type StoredRecord } from "./stored.ts";
import { writeAll } from "./writes.ts";

export function createClear({ again, messages }: Rooms): Gather<OutboxItemRef, void> {
  return createGather(async (items) => {
    const ids = new Set(items.map(({ id }) => id));
    await writeAll(again, messages, [...items.map(taking), ...[...ids].map(quieting)]);
    return items.map(() => undefined);
  });
}

const taking = ({ id, attempt, item }: OutboxItemRef): AnyBulkWriteOperation<StoredRecord> => ({
  updateOne: { filter: { _id: id }, update: { $pull: { outbox: { attempt, kind: item } } } },
});

const quieting = (_id: MessageId): AnyBulkWriteOperation<StoredRecord> => ({
  updateOne: {
    filter: { _id, outbox: { $size: 0 }, state: { $in: [...finishedStates] } },
    update: { $unset: { wakeAt: "" } },
  },
});
