/** Takes out of the outboxes what is safe elsewhere. A finished record whose outbox is empty has no alarm any more. */
import { type OutboxItemRef } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../gather.ts";
import { type Rooms } from "./rooms.ts";
import { finishedStates, type StoredRecord } from "./stored.ts";
import { writeAll } from "./writes.ts";

/** What is not cleared yet is worked through once more after a crash, and found done: nobody waits for it. */
const lingerMs = 50;

export function createClear({ again, messages, pause }: Rooms): Gather<OutboxItemRef, void> {
  const clearAll = async (items: readonly OutboxItemRef[]): Promise<readonly void[]> => {
    const alike = Map.groupBy(items, ({ attempt, item }) => `${attempt} ${item}`);
    const _id = { $in: [...new Set(items.map(({ id }) => id))] };
    const isEmptied = { outbox: { $size: 0 }, wakeAt: { $exists: true } };
    await writeAll(again, messages, [
      ...[...alike.values()].flatMap(taking),
      { updateMany: { filter: { _id, ...isFinished, ...isEmptied }, update: silence } },
    ]);
    return items.map(() => undefined);
  };
  return createGather(clearAll, { linger: () => pause(lingerMs) });
}

const isFinished = { state: { $in: [...finishedStates] } };
const silence = { $unset: { wakeAt: "" } } as const;

/**
 * All of one attempt and kind. Mostly it is the last thing that a finished record had to tell: then one write empties the
 * outbox and ends the alarm. The order of the two does not matter.
 */
function taking([first, ...rest]: OutboxItemRef[]): AnyBulkWriteOperation<StoredRecord>[] {
  if (first === undefined) return [];
  const { attempt, item: kind } = first;
  const _id = { $in: [first, ...rest].map(({ id }) => id) };
  const isLast = { outbox: { $size: 1 }, "outbox.0.attempt": attempt, "outbox.0.kind": kind };
  return [
    {
      updateMany: {
        filter: { _id, ...isFinished, ...isLast },
        update: { $set: { outbox: [] }, ...silence },
      },
    },
    {
      updateMany: {
        filter: { _id, "outbox.kind": kind },
        update: { $pull: { outbox: { attempt, kind } } },
      },
    },
  ];
}
