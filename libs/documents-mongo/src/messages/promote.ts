/** A lane's records: their promotion from the line, and who of them holds a slot. */
import { alarmOf, type LaneId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type Hint, type MessageStore } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../gather.ts";
import { type StoredLane } from "./stored-lane.ts";
import { inOneReply, type Rooms } from "./rooms.ts";
import { hintFields, hintFrom, type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Promotion = {
  readonly lane: LaneId;
  readonly ids: readonly MessageId[];
  readonly grantUntil: number;
  readonly window: RateWindow | undefined;
};

export function createPromote(rooms: Rooms): Gather<Promotion, readonly Hint[]> {
  const { again, messages, lanes, clock, token } = rooms;
  return createGather(
    async (promotions) => {
      await writeAll(again, lanes, promotions.flatMap(keepingWindow));
      const now = clock.now();
      const named = promotions.map((promotion) => ({ ...promotion, promotedBy: token() }));
      await writeAll(
        again,
        messages,
        named.map((promotion) => promoting(promotion, now)),
      );
      const filter = {
        _id: { $in: named.flatMap(({ ids }) => ids) },
        promotedBy: { $in: named.map(({ promotedBy }) => promotedBy) },
      };
      const found = await again(() =>
        messages
          .find(filter, { ...inOneReply, projection: { ...hintFields, promotedBy: 1 } })
          .toArray(),
      );
      const byToken = Map.groupBy(found, ({ promotedBy }) => promotedBy);
      return named.map(({ ids, promotedBy }) => {
        const promoted = new Map(byToken.get(promotedBy)?.map((each) => [each._id, each]));
        return ids.flatMap((id) => {
          const stored = promoted.get(id);
          return stored ? hintFrom(stored) : [];
        });
      });
    },
    { itemsMax: promotionsMax },
  );
}
const promotionsMax = 100;

const keepingWindow = ({
  lane,
  window,
}: Promotion): readonly AnyBulkWriteOperation<StoredLane>[] =>
  window ? [{ updateOne: { filter: { _id: lane }, update: { $set: { window } } } }] : [];

function promoting(
  { lane, ids, grantUntil, promotedBy }: Promotion & { readonly promotedBy: string },
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
