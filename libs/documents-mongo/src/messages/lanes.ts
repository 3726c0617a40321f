/**
 * Lanes: the documents that hold limits, alarm and rate window of those who wait in line.
 *
 * I1: the lane is told after the record stands in line, so `entries` read before the line was means: nobody has got in
 *     unseen. Until then the record has an alarm of its own (stored.ts).
 * I2: places are given from `place` as it was read before the insert, and told back after it. Two publishes at the same
 *     time may give the same one; a publish that begins after another was acknowledged gives a higher one.
 */
import { type LaneId, limits, type Message, type RateWindow } from "@posthaste/domain";
import { type LaneRow } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { createGather, type Gather } from "../gather.ts";
import { type Index } from "../indexes.ts";
import { type Rooms } from "./rooms.ts";
import { type StoredLane } from "./stored-lane.ts";
import { writeAll } from "./writes.ts";

export const lanesName = "lanes";
export const laneIndexes: readonly Index[] = [
  { collection: lanesName, key: { shard: 1, wakeAt: 1 } },
  { collection: lanesName, key: { shard: 1, usedAt: 1 } },
];

/** Somebody who got into line or, held, has a place in it for later. */
export type Entry = {
  readonly message: Pick<Message, "flowLane" | "tenant" | "shard" | "policy">;
  readonly waits: boolean;
  readonly place?: number | undefined;
  /** A publish sets the limits; who comes back to his place only brings them where the row is gone. */
  readonly setsLimits: boolean;
};

export async function enter(
  { again, lanes, clock }: Rooms,
  entries: readonly Entry[],
): Promise<void> {
  const now = clock.now();
  const byLane = Map.groupBy(entries, ({ message }) => message.flowLane);
  let operations: AnyBulkWriteOperation<StoredLane>[] = [];
  for (const [lane, group] of byLane)
    if (lane !== undefined) operations.push(...entering(lane, group, now));
  // Two who make the same row at the same time: one is refused, finds it there the next time.
  for (let round = 0; operations.length > 0 && round < roundsMax; round++) {
    const { refused } = await writeAll(again, lanes, operations);
    operations = operations.filter((_, n) => refused.has(n));
  }
  if (operations.length > 0) throw new Error("lanes refuse to be written");
}

const roundsMax = 5;

function entering(
  lane: LaneId,
  entries: readonly Entry[],
  now: number,
): readonly AnyBulkWriteOperation<StoredLane>[] {
  const [first] = entries;
  const flow = first?.message.policy.flow;
  if (!first || !flow) return [];
  const { tenant, shard } = first.message;
  const limitsOf = entries.findLast(({ setsLimits }) => setsLimits)?.message.policy.flow?.limits;
  const places = entries.flatMap(({ place }) => place ?? []);
  const filter = { _id: lane };
  const update = {
    $inc: { entries: entries.length },
    $max: { usedAt: now, ...(places.length > 0 && { place: Math.max(...places) }) },
    ...(entries.some(({ waits }) => waits) && { $min: { wakeAt: now } }),
    ...(limitsOf && { $set: { limits: limitsOf } }),
    $setOnInsert: { tenant, key: flow.key, shard, ...(!limitsOf && { limits: flow.limits }) },
  };
  return [{ updateOne: { filter, update, upsert: true } }];
}

/** The last places given in `ids`; 0 where there is no row. */
export async function lastPlaces(
  { again, lanes }: Rooms,
  ids: readonly LaneId[],
): Promise<ReadonlyMap<LaneId, number>> {
  if (ids.length === 0) return new Map();
  const found = await again(() =>
    lanes.find({ _id: { $in: [...ids] } }, { projection: { place: 1 } }).toArray(),
  );
  return new Map(found.map(({ _id, place = 0 }) => [_id, place]));
}

export function createRows({ again, lanes }: Rooms): Gather<LaneId, LaneRow | undefined> {
  return createGather(async (ids) => {
    const found = await again(() => lanes.find({ _id: { $in: [...new Set(ids)] } }).toArray());
    const rows = new Map(found.map((stored) => [stored._id, rowFrom(stored)]));
    return ids.map((id) => rows.get(id));
  });
}

function rowFrom({ _id: id, tenant, key, shard, limits: flow, ...stored }: StoredLane): LaneRow {
  const { wakeAt, window, entries: seq } = stored;
  return { id, tenant, key, shard, limits: flow, wakeAt, window, seq };
}

export type Rest = {
  readonly lane: LaneId;
  readonly seq: number;
  readonly wakeAt: number | undefined;
  readonly window: RateWindow | undefined;
};

export function createRest({ again, lanes }: Rooms): Gather<Rest, boolean> {
  return createGather(async (rests) => {
    const { matched } = await writeAll(again, lanes, rests.map(resting));
    // Where somebody has got in since an earlier try of ours that was not heard of, nothing rests either.
    if (matched === 0 || matched === rests.length) return rests.map(() => matched > 0);
    // `entries` only grows: where it is what was asked for, it was when we wrote.
    const ids = [...new Set(rests.map(({ lane }) => lane))];
    const found = await again(() =>
      lanes.find({ _id: { $in: ids } }, { projection: { entries: 1 } }).toArray(),
    );
    const entries = new Map(found.map((stored) => [stored._id, stored.entries]));
    return rests.map(({ lane, seq }) => entries.get(lane) === seq);
  });
}

function resting({ lane, seq, wakeAt, window }: Rest): AnyBulkWriteOperation<StoredLane> {
  const $set = { ...(wakeAt !== undefined && { wakeAt }), ...(window && { window }) };
  const $unset = {
    ...(wakeAt === undefined && { wakeAt: "" as const }),
    ...(!window && { window: "" as const }),
  };
  const update = {
    ...(Object.keys($set).length > 0 && { $set }),
    ...(Object.keys($unset).length > 0 && { $unset }),
  };
  return { updateOne: { filter: { _id: lane, entries: seq }, update } };
}

/** Lanes in `shards` whose alarm is due, each moved ahead. */
export async function ringLanes(
  { again, lanes }: Rooms,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly LaneId[]> {
  const isDue = { wakeAt: { $lte: now } };
  const found = await again(() =>
    lanes
      .find({ shard: { $in: [...shards] }, ...isDue }, { projection: { _id: 1 } })
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return [];
  const ids = found.map(({ _id }) => _id);
  const $set = { wakeAt: now + limits.ringAheadMs };
  await again(() => lanes.updateMany({ _id: { $in: ids }, ...isDue }, { $set }));
  return ids;
}

/** Removes rows that nobody needs: no alarm, unused for longer than any period, and no record. Looks at `limit` of them. */
export async function sweepLanes(
  { again, lanes, messages, clock }: Rooms,
  shards: readonly number[],
  limit: number,
): Promise<void> {
  const now = clock.now();
  const unused = { wakeAt: { $exists: false }, usedAt: { $lt: now - limits.flowPeriodMsMax } };
  const found = await again(() =>
    lanes
      .find({ shard: { $in: [...shards] }, ...unused }, { projection: { entries: 1 } })
      .sort({ usedAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return;
  const ids = found.map(({ _id }) => _id);
  const needed = new Set(await again(() => messages.distinct("lane", { lane: { $in: ids } })));
  await writeAll(
    again,
    lanes,
    found.map(({ _id, entries }): AnyBulkWriteOperation<StoredLane> => {
      const filter = { _id, entries, ...unused };
      return needed.has(_id)
        ? { updateOne: { filter, update: { $set: { usedAt: now } } } }
        : { deleteOne: { filter } };
    }),
  );
}
