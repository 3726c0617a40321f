/**
 * Keeps the bodies of ended messages (ADR 204): the removal of a record leaves its document, with the body and the
 * fields by which it is found. The settle writes the kept part of an answer into the same document (ADR 187).
 *
 * (1) A row of the log (ADR 205) keeps its body. Any other document becomes a tombstone, also to earlier builds,
 *     which no sweep of tombstones removes. `buriedUntil` says until when it has to stay one.
 * (2) The body of a group's children is in their fan-out, which stays while a child's document refers to it.
 */
import { mayKeepBody, planBounds, type TenantId } from "@posthaste/domain";
import { type KeptBodies } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { bytes } from "../bytes.ts";
import { removeBodies } from "./bodies.ts";
import { buriedUntil } from "./bury.ts";
import { type Reading } from "./read.ts";
import { inOneReply, type Store } from "./store.ts";
import { ofRecordAlone, rowFormat, type StoredRecord } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

type Judged = Pick<StoredRecord, "_id" | "bodyBytes" | "repeatableUntil" | "state" | "tenant"> & {
  readonly isAnswerKept: boolean;
  readonly message: Pick<StoredRecord["message"], "policy" | "run">;
};

export const judgedFields = {
  ...{ tenant: 1, state: 1, bodyBytes: 1, repeatableUntil: 1 },
  isAnswerKept: { $gt: ["$answer", null] },
  ...{ "message.run": 1, "message.policy.redaction": 1 },
} as const;

/** Reports whether the body may be kept. A failed message has a dead letter with a body of its own. */
export const mayKeep = ({ bodyBytes, isAnswerKept, message, state }: Judged): boolean =>
  (bodyBytes > 0 || isAnswerKept) &&
  (state === "delivered" || state === "canceled") &&
  mayKeepBody(message);

/** Removes the records of `judged` and keeps their bodies. */
export async function keepBodies(
  { again, clock, messages }: Store,
  judged: readonly Judged[],
): Promise<void> {
  const now = clock.now();
  const tombstoneUntil = now + keptMsMax;
  const byEnd = Map.groupBy(judged, (record) => Math.max(now, buriedUntil(record, now)));
  const writes = [...byEnd].map(([until, records]): AnyBulkWriteOperation<StoredRecord> => {
    const ids = records.map(({ _id }) => _id);
    const filter = { _id: { $in: ids }, keptAt: { $exists: false } };
    const update = {
      $set: { tombstoneUntil, ...(until > now && { buriedUntil: until }) },
      $rename: { tenant: "keptOf", endedAt: "keptAt" },
      $unset: otherFields,
    };
    return { updateMany: { filter, update } };
  });
  await writeAll(again, messages, writes);
}

/** Longer than any plan keeps a body. */
const keptMsMax = 2 * planBounds.keepBodiesMs.max;

type Left =
  | ("_id" | "tenant" | "endedAt" | "tombstoneUntil" | "buriedUntil" | "keptOf" | "keptAt")
  | ("body" | "bodyApart" | "bodyBytes" | "bodyOf" | "insertedBy" | "answer");

const { body: _, bodyBytes: __, answer: ___, ...withoutBody } = ofRecordAlone;

/** The update that makes a record a row of the log that keeps its body. */
export const rowWithBody = [
  { $set: { format: rowFormat, keptOf: "$tenant", keptAt: "$endedAt" } },
  { $unset: Object.keys(withoutBody) },
];

/** The fields that the document of a kept body does not have. */
const otherFields = {
  ...{ format: "", shard: "", origin: "", state: "", epoch: "", outbox: "", message: "" },
  ...{ retried: "", leaseLosses: "", deferrals: "", runBytes: "", repeatableUntil: "" },
  ...{ lane: "", place: "", queue: "", queuePlace: "", turnOf: "" },
  ...{ dueAt: "", waitMs: "", hints: "", grantUntil: "", owner: "", leaseUntil: "", renewed: "" },
  ...{
    runsUntil: "",
    sweepAt: "",
    owedSweepAt: "",
    canceledSweepAt: "",
    toldSweepAt: "",
    told: "",
    wakeAt: "",
    followUpAt: "",
    factAt: "",
  },
  ...{ claimedBy: "", promotedBy: "", changedBy: "" },
} as const satisfies Record<Exclude<keyof StoredRecord, Left>, "">;

export function createKeptBodies(
  store: Store,
  { withBodies }: Pick<Reading, "withBodies">,
): KeptBodies {
  const { again, clock, db, messages } = store;

  const oldest = (tenant: TenantId, before: number, limit: number) =>
    again(() =>
      messages
        .find(
          { keptOf: tenant, keptAt: { $lt: before, $exists: true } },
          {
            ...inOneReply,
            projection: {
              ...{ bodyApart: 1, bodyBytes: 1, insertedBy: 1 },
              buriedUntil: 1,
              "told.place": 1,
            },
          },
        )
        .sort({ keptAt: 1 })
        .limit(limit)
        .toArray(),
    );

  return {
    get: async (tenant, id) => {
      const filter = { _id: id, keptOf: tenant, keptAt: { $exists: true }, bodyBytes: { $gt: 0 } };
      const found = await again(() => messages.find(filter).toArray());
      const [body] = await withBodies(found, (_, kept) => kept);
      return body;
    },
    answer: async (tenant, id) => {
      const filter = { _id: id, $or: [{ tenant }, { keptOf: tenant }] };
      const found = await again(() => messages.findOne(filter, { projection: { answer: 1 } }));
      return found?.answer && bytes(found.answer);
    },
    sweep: async (tenant, before, limit) => {
      let swept = 0;
      // Ends when no body is old enough, or at `limit`.
      for (;;) {
        const portion = Math.min(limit - swept, removedPerCallMax);
        const found = portion > 0 ? await oldest(tenant, before, portion) : [];
        await removeBodies(store, found);
        await writeAll(again, messages, removals(found, clock.now()));
        swept += found.length;
        if (found.length < removedPerCallMax) return swept;
      }
    },
    diskShare: async () => {
      const {
        freeStorageSize = 0,
        fsTotalSize,
        fsUsedSize,
      } = await again(() => db.command({ dbStats: 1, freeStorage: 1 }));
      const isTold = typeof fsUsedSize === "number" && typeof fsTotalSize === "number";
      return isTold && fsTotalSize > 0 ? (fsUsedSize - Number(freeStorageSize)) / fsTotalSize : 0;
    },
  };
}

const removedPerCallMax = 1_000;

type Swept = Pick<StoredRecord, "_id" | "buriedUntil" | "told">;

const isRow = ({ told }: Swept): boolean => told !== undefined;

/** Returns the writes that remove kept bodies. A row of the log stays, and so does a tombstone that is still needed. */
function removals(swept: readonly Swept[], now: number): AnyBulkWriteOperation<StoredRecord>[] {
  const isBuried = ({ buriedUntil: until = 0 }: Swept): boolean => until > now;
  const idsOf = (records: readonly Swept[]) => ({ _id: { $in: records.map(({ _id }) => _id) } });
  const [rows, others] = [swept.filter(isRow), swept.filter((each) => !isRow(each))];
  const buried = others.filter(isBuried);
  const gone = others.filter((each) => !isBuried(each));
  const writes: AnyBulkWriteOperation<StoredRecord>[] = [];
  if (rows.length > 0)
    writes.push({ updateMany: { filter: idsOf(rows), update: { $unset: ofKept } } });
  if (gone.length > 0) writes.push({ deleteMany: { filter: idsOf(gone) } });
  if (buried.length > 0)
    writes.push({ updateMany: { filter: idsOf(buried), update: toTombstone } });
  return writes;
}

const ofKept = { keptOf: "", keptAt: "", body: "", bodyBytes: "", answer: "" } as const;

const toTombstone = {
  $rename: { buriedUntil: "tombstoneUntil" },
  $unset: { ...ofKept, bodyApart: "", bodyOf: "", insertedBy: "" },
} as const;
