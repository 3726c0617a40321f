/** The records of a lane: promotes them from the line, and finds the holders of slots. */
import { type FlowId, type MessageId, promote, type RateWindow } from "@posthaste/domain";
import { type FlowLanes } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../writes/gather.ts";
import { type StoredLane } from "./stored-lane.ts";
import { inOneReply, type Store } from "../messages/store.ts";
import { type StoredRecord, stateWrite } from "../messages/stored.ts";
import { writeAll } from "../writes/write-all.ts";

export type Promotion = {
  readonly lane: FlowId;
  readonly ids: readonly MessageId[];
  readonly grantUntil: number;
  readonly window: RateWindow | undefined;
};

export function createPromote(store: Store): Gather<Promotion, readonly MessageId[]> {
  const { again, messages, lanes, clock, token } = store;
  return createGather(
    async (promotions) => {
      await writeAll(again, lanes, promotions.flatMap(keepingWindow));
      const now = clock.now();
      const named = promotions.map((promotion) => ({ ...promotion, promotedBy: token() }));
      const { matched } = await writeAll(
        again,
        messages,
        named.map((promotion) => promoting(promotion, now)),
      );
      const wanted = named.reduce((sum, { ids }) => sum + ids.length, 0);
      return matched === wanted ? named.map(({ ids }) => ids) : whoseTheyAre(store, named);
    },
    { itemsMax: promotionsMax },
  );
}
const promotionsMax = 100;

type Named = Promotion & { readonly promotedBy: string };

/** Returns which records each call has promoted, also by an earlier try whose reply was lost. */
async function whoseTheyAre(
  { again, messages }: Store,
  promotions: readonly Named[],
): Promise<readonly (readonly MessageId[])[]> {
  const filter = {
    _id: { $in: promotions.flatMap(({ ids }) => ids) },
    promotedBy: { $in: promotions.map(({ promotedBy }) => promotedBy) },
  };
  const found = await again(() =>
    messages.find(filter, { ...inOneReply, projection: { promotedBy: 1 } }).toArray(),
  );
  const byId = new Map(found.map(({ _id, promotedBy }) => [_id, promotedBy]));
  return promotions.map(({ ids, promotedBy }) => ids.filter((id) => byId.get(id) === promotedBy));
}

const keepingWindow = ({ lane, window }: Promotion): readonly AnyBulkWriteOperation<StoredLane>[] =>
  window ? [{ updateOne: { filter: { _id: lane }, update: { $set: { window } } } }] : [];

function promoting(
  { lane, ids, grantUntil, promotedBy }: Named,
  now: number,
): AnyBulkWriteOperation<StoredRecord> {
  const { next, wakeAt } = promote(grantUntil, now);
  const { $set, $unset } = stateWrite(next, wakeAt, now);
  const filter = { _id: { $in: [...ids] }, lane, state: "waiting" } as const;
  return { updateMany: { filter, update: { $set: { ...$set, promotedBy }, $unset } } };
}

export function createSlotHolders({ again, messages, clock }: Store): FlowLanes["slotHolders"] {
  return async (lane) => {
    const filter = {
      lane,
      $or: [
        { state: "claimed" as const },
        { state: "due" as const, grantUntil: { $gt: clock.now() } },
      ],
    };
    const projection = { leaseUntil: 1, grantUntil: 1 };
    const found = await again(() => messages.find(filter, { projection }).toArray());
    return found.flatMap(({ _id: id, leaseUntil, grantUntil }) => {
      const until = leaseUntil ?? grantUntil;
      return until === undefined ? [] : { id, until };
    });
  };
}
