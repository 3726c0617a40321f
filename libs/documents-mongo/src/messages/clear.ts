/** Removes items from outboxes once their effects are safe elsewhere. A finished record with an empty outbox has no alarm. */
import { finishedKinds, limits, type MessageId } from "@posthaste/domain";
import { type OutboxItemRef } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../writes/gather.ts";
import { type Store } from "./store.ts";
import { type StoredRecord, sweepFields } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

/** No caller waits for a clear. An item that is not cleared is worked again after a crash, without effect. */
const lingerMs = 50;

export function createClear({ again, clock, messages, pause }: Store): Gather<OutboxItemRef, void> {
  const clearAll = async (items: readonly OutboxItemRef[]): Promise<readonly void[]> => {
    const alike = Map.groupBy(items, ({ attempt, item }) => `${attempt} ${item}`);
    const _id = { $in: [...new Set(items.map(({ id }) => id))] };
    const now = clock.now();
    const isEmptied = {
      outbox: { $size: 0 },
      ...Object.fromEntries(sweepFields.map((field) => [field, { $exists: false }])),
    };
    const operations: AnyBulkWriteOperation<StoredRecord>[] = [
      ...[...alike.values()].flatMap((those) => taking(those, now)),
      { updateMany: { filter: { _id, ...isFinished, ...isEmptied }, update: silence(now) } },
    ];
    if (items.some(({ item }) => item !== "fact")) operations.push(leavingFacts(_id, now));
    await writeAll(again, messages, operations);
    return items.map(() => undefined);
  };
  return createGather(clearAll, { linger: () => pause(lingerMs) });
}

const isFinished = { state: { $in: [...finishedKinds] } };

/** Returns the update that ends the alarm of a record with an empty outbox and admits the sweep. */
const silence = (now: number) =>
  ({ $set: { sweepAt: now }, $unset: { wakeAt: "", followUpAt: "", factAt: "" } }) as const;

/** Returns the write for finished records with only facts left: they wait for the bus, and ring by the alarm of facts. */
function leavingFacts(_id: { $in: MessageId[] }, now: number): AnyBulkWriteOperation<StoredRecord> {
  const isOther = { kind: { $ne: "fact" as const } };
  const filter = {
    _id,
    ...isFinished,
    followUpAt: { $exists: true },
    outbox: { $not: { $elemMatch: isOther } },
  };
  const update = {
    $set: { factAt: now + limits.ringAheadMs },
    $unset: { followUpAt: "" },
  } as const;
  return { updateMany: { filter, update } };
}

/**
 * Returns the writes that remove items of one attempt and kind. Mostly they are the last of a finished record: then
 * one write empties the outbox and ends the alarm. The order of the two operations does not matter.
 */
function taking(
  [first, ...rest]: OutboxItemRef[],
  now: number,
): AnyBulkWriteOperation<StoredRecord>[] {
  if (first === undefined) return [];
  const { attempt, item: kind } = first;
  const _id = { $in: [first, ...rest].map(({ id }) => id) };
  const { $set, $unset } = silence(now);
  const isLast = { outbox: { $size: 1 }, "outbox.0.attempt": attempt, "outbox.0.kind": kind };
  return [
    {
      updateMany: {
        filter: { _id, ...isFinished, ...isLast },
        update: { $set: { outbox: [], ...$set }, $unset },
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
