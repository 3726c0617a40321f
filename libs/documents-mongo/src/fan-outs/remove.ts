/** Removes fan-outs. A fan-out is removed once it is expanded and has no child left, since children share its body. */
import { isDerived, limits, type MessageId } from "@posthaste/domain";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Store } from "../messages/store.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { writeAll } from "../writes/write-all.ts";
import { type StoredFanOut } from "./stored-fan-out.ts";

type Expanded = Pick<StoredFanOut, "_id" | "repeatableUntil">;

export async function removeFanOuts(
  store: Store,
  shards: readonly number[],
  endedBefore: number,
  limit: number,
): Promise<number> {
  const found = await findExpanded(store, shards, endedBefore, Math.min(limit, removedPerCallMax));
  if (found.length === 0) return 0;
  const ids = found.map(({ _id }) => _id);
  const needed = new Set(await havingChildren(store, ids));
  await postpone(store, [...needed]);
  const free = found.filter(({ _id }) => !needed.has(_id));
  await removeThese(store, free);
  return free.length;
}

const removedPerCallMax = 1_000;

const findExpanded = (
  { again, fanOuts }: Store,
  shards: readonly number[],
  endedBefore: number,
  limit: number,
): Promise<readonly Expanded[]> =>
  again(() =>
    fanOuts
      .find(
        {
          shard: { $in: [...shards] },
          sweepAt: { $lt: endedBefore, $exists: true },
          ...isKnownFormat,
        },
        { projection: { repeatableUntil: 1 } },
      )
      .sort({ sweepAt: 1 })
      .limit(limit)
      .toArray(),
  );

const havingChildren = (
  { again, messages }: Store,
  ids: readonly MessageId[],
): Promise<readonly (MessageId | undefined)[]> =>
  again(() => messages.distinct("bodyOf", { bodyOf: { $in: [...ids] } }));

async function removeThese(
  { again, fanOuts, clock }: Store,
  expanded: readonly Expanded[],
): Promise<void> {
  const now = clock.now();
  const operations = expanded.map(
    ({ _id, repeatableUntil = now }): AnyBulkWriteOperation<StoredFanOut> => {
      const tombstoneUntil = isDerived(_id) ? now + limits.tombstoneMs : repeatableUntil;
      if (tombstoneUntil <= now) return { deleteOne: { filter: { _id } } };
      const replacement = { tombstoneUntil } as Omit<StoredFanOut, "_id">;
      return { replaceOne: { filter: { _id }, replacement } };
    },
  );
  await writeAll(again, fanOuts, operations);
}

/** Postpones the next look, so that fan-outs whose children wait for a month are not read before fan-outs that can be removed. */
async function postpone(
  { again, fanOuts, clock }: Store,
  ids: readonly (MessageId | undefined)[],
): Promise<void> {
  const known = ids.filter((id) => id !== undefined);
  if (known.length === 0) return;
  const update = { $set: { sweepAt: clock.now() + lookAgainMs } };
  await again(() => fanOuts.updateMany({ _id: { $in: known } }, update));
}
const lookAgainMs = 300_000;
