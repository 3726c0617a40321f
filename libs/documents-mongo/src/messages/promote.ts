/** A lane's records: their promotion from the line, and who of them holds a slot. */
import { alarmOf, type LaneId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type MessageStore } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../gather.ts";
import { type StoredLane } from "./stored-lane.ts";
import { inOneReply, type Rooms } from "./rooms.ts";
import { type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Promotion = {
  readonly lane: LaneId;
  readonly ids: readonly MessageId[];
  readonly grantUntil: number;
  readonly window: RateWindow | undefined;
};

export function createPromote(rooms: Rooms): Gather<Promotion, readonly MessageId[]> {
  const { again, messages, lanes, clock, token } = rooms;
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
      return matched === wanted ? named.map(({ ids }) => ids) : whoseTheyAre(rooms, named);
    },
    { itemsMax: promotionsMax },
  );
}
const promotionsMax = 100;

type Named = Promotion & { readonly promotedBy: string };

/** Who was promoted by which, also by an earlier try of ours that was not heard of. */
async function whoseTheyAre(
  { again, messages }: Rooms,
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

const keepingWindow = ({
  lane,
  window,
}: Promotion): readonly AnyBulkWriteOperation<StoredLane>[] =>
  window ? [{ updateOne: { filter: { _id: lane }, update: { $set: { window } } } }] : [];

function promoting(
  { lane, ids, grantUntil, promotedBy }: Named,
  now: number,
): AnyBulkWriteOperation<StoredRecord> {
  const state = { kind: "due", hints: 0, grantUntil } as const;
  // The alarm of an outbox would not be sooner.
  const { $set, $unset } = stateWrite(state, alarmOf(state, false, now), now);
  const filter = { _id: { $in: [...ids] }, lane, state: "waiting" } as const;
  return { updateMany: { filter, update: { $set: { ...$set, promotedBy }, $unset } } };
}

export function createSlotHolders({ again, messages, clock }: Rooms): MessageStore["slotHolders"] {
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
