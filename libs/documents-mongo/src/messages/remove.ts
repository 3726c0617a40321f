/** Removes records that have been finished for a while, in ranges (I5). Records that are their own rows of the log stay as rows. */
import { owedCancellation, owedFact, type TenantId } from "@posthaste/domain";
import { type Document, type UpdateFilter } from "mongodb";
import { sweepQueues } from "../queues/alarms.ts";
import { removeFanOuts } from "../fan-outs/remove.ts";
import { type EndsOfLog } from "../message-log/message-log.ts";
import { removeBodies, sweepBodies } from "./bodies.ts";
import { removeOrBury } from "./bury.ts";
import { judgedFields, keepBodies, mayKeep, rowWithBody } from "./kept-bodies.ts";
import { sweepLanes } from "../lanes/lanes.ts";
import { inOneReply, type Store } from "./store.ts";
import {
  isOwedToLog,
  isKnownFormat,
  ofRecordAlone,
  recordFrom,
  rowFormat,
  type StoredRecord,
  sweepFields,
} from "./stored.ts";
import { removeSome } from "../query/ids-of.ts";

export type RemoveFinished = (
  shards: readonly number[],
  endedBefore: number,
  limit: number,
  keeps?: (tenant: TenantId) => boolean,
) => Promise<number>;

type Finished = Pick<
  StoredRecord,
  | ("_id" | "bodyApart" | "bodyBytes" | "insertedBy" | "message" | "repeatableUntil" | "retried")
  | ("state" | "tenant" | "told")
> & { readonly isAnswerKept: boolean };

const tells = ({ told }: Finished): boolean => told !== undefined;

export function createRemoveFinished(store: Store, log: EndsOfLog): RemoveFinished {
  return async (shards, endedBefore, limit, keeps = () => true) => {
    const isKept = (record: Finished): boolean => mayKeep(record) && keeps(record.tenant);
    let removed = 0;
    for (const sweptBy of sweepFields) {
      // Ends with the last finished record, or at `limit`.
      for (let round = 0; removed < limit && round < roundsMax; round++) {
        const portion = Math.min(limit - removed, removedPerCallMax);
        const found = await findFinished(store, shards, { sweptBy, endedBefore, limit: portion });
        if (isOwedToLog(sweptBy)) await tellOwed(store, log, found);
        const kept = found.filter(isKept);
        const gone = found.filter((each) => !isKept(each));
        await removeBodies(store, gone);
        await leaveRows(store, gone.filter(tells), { $set: toRow, $unset: ofRecordAlone });
        await leaveRows(store, kept.filter(tells), rowWithBody);
        await removeOrBury(
          store,
          gone.filter((each) => !tells(each)),
        );
        await keepBodies(
          store,
          kept.filter((each) => !tells(each)),
        );
        removed += found.length;
        if (found.length < portion) break;
      }
    }
    const fanOuts = await removeFanOuts(store, shards, endedBefore, limit);
    await sweepBodies(store);
    for (const { collectionName } of [store.messages, store.fanOuts])
      await sweepTombstones(store, collectionName, limit);
    // As many lanes as records were removed: each record may have been the last of its lane.
    await sweepLanes(store, shards, Math.max(lanesPerSweepMin, removed));
    await sweepQueues(store, shards, lanesPerSweepMin);
    return removed + fanOuts;
  };
}

const removedPerCallMax = 1_000;
const roundsMax = 20;
const lanesPerSweepMin = 500;

type Finding = {
  readonly sweptBy: (typeof sweepFields)[number];
  readonly endedBefore: number;
  readonly limit: number;
};

const findFinished = (
  { again, messages }: Store,
  shards: readonly number[],
  { sweptBy, endedBefore, limit }: Finding,
): Promise<readonly Finished[]> =>
  again(() =>
    messages
      .find<Finished>(
        {
          shard: { $in: [...shards] },
          [sweptBy]: { $lt: endedBefore, $exists: true },
          outbox: { $size: 0 },
          ...isKnownFormat,
        },
        { ...inOneReply, projection },
      )
      .sort({ [sweptBy]: 1 })
      .limit(limit)
      .toArray(),
  );

const projection = {
  ...judgedFields,
  ...{ bodyApart: 1, insertedBy: 1, retried: 1, "told.place": 1 },
} as const;

/** Writes ends that the log lacks. Mostly the settler or canceller has written them, so only records that the log lacks are read. */
async function tellOwed(
  { again, messages }: Store,
  { lacking, append }: EndsOfLog,
  owing: readonly Finished[],
): Promise<void> {
  const ids = await lacking(
    owing.map(({ _id: id, retried, state }) => ({ id, attempt: retried, state: endOf(state) })),
  );
  if (ids.length === 0) return;
  const stored = await again(() =>
    messages.find({ _id: { $in: [...ids] } }, { projection: { body: 0 } }).toArray(),
  );
  await append(
    stored.map((each) => {
      const { message, retried } = recordFrom(each);
      const factOf = each.state === "canceled" ? owedCancellation : owedFact;
      return { message, fact: factOf(message.id, retried, each.endedAt ?? message.createdAt) };
    }),
  );
}

const endOf = (state: StoredRecord["state"]) => (state === "canceled" ? "CANCELED" : "DELIVERED");

/** Ends records and leaves them as rows of the log. */
async function leaveRows(
  { again, messages }: Store,
  records: readonly Finished[],
  update: UpdateFilter<StoredRecord> | Document[],
): Promise<void> {
  if (records.length === 0) return;
  const _id = { $in: records.map((record) => record._id) };
  // A late sweep must not keep the body of a record again that another sweep has ended.
  const stands = { told: { $exists: true }, epoch: { $exists: true } };
  await again(() => messages.updateMany({ _id, ...stands }, update));
}

const toRow = { format: rowFormat } as const;

type Tombstone = { readonly _id: string; readonly tombstoneUntil?: number };

async function sweepTombstones(
  { again, collection, clock }: Store,
  name: string,
  limit: number,
): Promise<void> {
  const tombstones = collection<Tombstone>(name);
  const over = { tombstoneUntil: { $lte: clock.now(), $exists: true } };
  await removeSome(again, tombstones, over, { limit });
}
