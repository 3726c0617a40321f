/**
 * Lanes: documents with the limits, the alarm and the rate window of the records in line.
 *
 * (1) every write that sets a lane's alarm raises `entries` (`settingAlarm`), the fence of `rest`: a granter that
 *     looked before cannot put the lane to rest after it.
 * (2) the lane's row is written after the record is in line. So if `entries`, read before the line, has not changed, no record
 *     has joined unseen. Until the row is written, the record has an alarm of its own (stored.ts).
 * (3) places are given from `place` as read before the insert, which is raised after it. Two publishes at the same
 *     time may give the same place; a publish that begins after another was acknowledged gives a higher one.
 */
import {
  type Flow,
  type FlowId,
  type FlowLane,
  type FlowLimits,
  isForgettable,
  limits,
  type Pins,
  type RateWindow,
  cutOff,
} from "@posthaste/domain";
import { type Rung } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Due, ringDue } from "../alarms.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { byTime, type Index } from "../indexes.ts";
import { type Store } from "../messages/store.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { type StoredLane } from "./stored-lane.ts";
import { writeAll, upsertAll } from "../writes/write-all.ts";

export const lanesName = "lanes";
export const laneIndexes: readonly Index[] = [
  byTime(lanesName, "wakeAt", {}),
  byTime(lanesName, "usedAt", {}),
];

/** A message that joined the line, or is held with a place in it; or a publish that sets the lane's limits. */
export type Entry = {
  readonly flow: Flow;
  /** Whether a record may be granted a slot now. */
  readonly wakes: boolean;
  readonly place?: number | undefined;
  /** True for a publish. The limits of any other entry are used only if the row was removed. */
  readonly setsLimits: boolean;
};

export async function enter(
  { again, lanes, clock }: Store,
  entries: readonly Entry[],
): Promise<void> {
  const now = clock.now();
  const byLane = Map.groupBy(entries, ({ flow }) => flow.lane);
  const entering = [...byLane.values()].flatMap((group) => enteringOf(group, now));
  const { refused } = await writeAll(
    again,
    lanes,
    entering.map(({ freely }) => freely),
  );
  // Refused writes: lanes with pins, and lanes that were made meanwhile.
  const careful = [...refused].flatMap((n) => entering[n]?.carefully ?? []);
  await upsertAll(again, lanes, careful);
}

type LaneWrites = readonly AnyBulkWriteOperation<StoredLane>[];

/** `freely` sets all limits, and is refused if some are pinned; `carefully` sets only those without a pin. */
type Entering = {
  readonly freely: AnyBulkWriteOperation<StoredLane>;
  readonly carefully: LaneWrites;
};

function enteringOf(entries: readonly Entry[], now: number): readonly Entering[] {
  const [first] = entries;
  if (!first) return [];
  const { lane, tenant, key, shard, limits: brought } = first.flow;
  const limitsSet = entries.findLast(({ setsLimits }) => setsLimits)?.flow.limits;
  const format = Math.max(...entries.map(({ flow }) => flow.format));
  const places = entries.flatMap(({ place }) => place ?? []);
  const wakes = entries.some((entry) => entry.wakes);
  const update = {
    ...(wakes ? settingAlarm({ $min: { wakeAt: now } }) : { $inc: { entries: 0 } }),
    $max: {
      usedAt: now,
      ...(format > 1 && { format }),
      ...(places.length > 0 && { place: Math.max(...places) }),
    },
  };
  const $setOnInsert = { tenant, key, shard };
  const filter = { _id: lane };
  const base: AnyBulkWriteOperation<StoredLane> = {
    updateOne: {
      filter,
      update: { ...update, $setOnInsert: { ...$setOnInsert, limits: limitsSet ?? brought } },
      upsert: true,
    },
  };
  if (!limitsSet) return [{ freely: base, carefully: [base] }];
  const setting = { ...update, $set: { limits: limitsSet }, $setOnInsert };
  return [
    {
      freely: { updateOne: { filter: { ...filter, ...hasNoPins }, update: setting, upsert: true } },
      carefully: [base, ...settingUnpinned(lane, limitsSet)],
    },
  ];
}

const isNotPinned = { $exists: false } as const;
const hasNoPins = { pinnedParallelism: isNotPinned, pinnedRate: isNotPinned };

function settingUnpinned(_id: FlowId, { parallelism, rate, periodMs }: FlowLimits): LaneWrites {
  return [
    {
      updateOne: {
        filter: { _id, pinnedParallelism: isNotPinned },
        update:
          parallelism === undefined
            ? { $unset: { "limits.parallelism": "" } }
            : { $set: { "limits.parallelism": parallelism } },
      },
    },
    {
      updateOne: {
        filter: { _id, pinnedRate: isNotPinned },
        update: {
          $set: { "limits.periodMs": periodMs, ...(rate !== undefined && { "limits.rate": rate }) },
          ...(rate === undefined && { $unset: { "limits.rate": "" } }),
        },
      },
    },
  ];
}

export const settingAlarm = <T extends { $min: { wakeAt: number } } | { $set: { wakeAt: number } }>(
  alarm: T,
) => ({ ...alarm, $inc: { entries: 1 } });

export type LaneState = Pick<StoredLane, "limits" | "pinnedParallelism" | "pinnedRate" | "place">;

export async function laneStateOf(
  { again, lanes }: Store,
  ids: readonly FlowId[],
): Promise<ReadonlyMap<FlowId, LaneState>> {
  if (ids.length === 0) return new Map();
  const found = await again(() =>
    lanes
      .find(
        { _id: { $in: [...ids] } },
        { projection: { place: 1, limits: 1, pinnedParallelism: 1, pinnedRate: 1 } },
      )
      .toArray(),
  );
  return new Map(found.map((standing) => [standing._id, standing]));
}

export function createRows({ again, lanes }: Store): Gather<FlowId, FlowLane | undefined> {
  return createGather(async (ids) => {
    const found = await again(() => lanes.find({ _id: { $in: [...new Set(ids)] } }).toArray());
    const rows = new Map(found.map((stored) => [stored._id, rowFrom(stored)]));
    return ids.map((id) => rows.get(id));
  });
}

export function rowFrom({
  _id: id,
  tenant,
  key,
  shard,
  limits: flow,
  paused,
  ...stored
}: StoredLane): FlowLane {
  const { format, wakeAt, window, entries: seq } = stored;
  return {
    id,
    tenant,
    ...(format !== undefined && { format }),
    key,
    shard,
    limits: flow,
    paused: paused === true,
    pins: pinsFrom(stored),
    wakeAt,
    window,
    seq,
  };
}

export const pinsFrom = (stored: Pick<StoredLane, "pinnedParallelism" | "pinnedRate">): Pins => ({
  parallelism: stored.pinnedParallelism === true,
  rate: stored.pinnedRate === true,
});

export type Rest = {
  readonly lane: FlowId;
  readonly seq: number;
  readonly wakeAt: number | undefined;
  readonly window: RateWindow | undefined;
};

export function createRest({ again, lanes }: Store): Gather<Rest, boolean> {
  return createGather(async (rests) => {
    const { matched } = await writeAll(again, lanes, rests.map(resting));
    // If a record has joined since an earlier try whose reply was lost, the lane stays awake, too.
    if (matched === 0 || matched === rests.length) return rests.map(() => matched > 0);
    // `entries` only grows: if it still has this value, it had the value at the write.
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

export async function ringLanes(store: Store, ...due: Due): Promise<readonly Rung[]> {
  const found = await ringDue<StoredLane>(store, lanesName, due, { _id: 1 }, (wakeAt) =>
    settingAlarm({ $set: { wakeAt } }),
  );
  return found.map(({ _id: lane }) => ({ kind: "lane", lane }));
}

/**
 * Removes rows that are long unused and have no alarm, no record and no open window. Checks `limit` rows, and once a
 * day each row that stays.
 */
export async function sweepLanes(
  store: Store,
  shards: readonly number[],
  limit: number,
): Promise<void> {
  let looked = 0;
  while (looked < limit) {
    const portion = Math.min(limit - looked, lanesPerPortionMax);
    const found = await sweepPortion(store, shards, portion);
    looked += found;
    if (found < portion) return;
  }
}
const lanesPerPortionMax = 500;

async function sweepPortion(
  { again, lanes, messages, clock }: Store,
  shards: readonly number[],
  limit: number,
): Promise<number> {
  const now = clock.now();
  const unused = {
    ...isKnownFormat,
    wakeAt: { $exists: false },
    usedAt: { $lte: cutOff(limits.laneKeptMs, now) },
  };
  const found = await again(() =>
    lanes
      .find({ shard: { $in: [...shards] }, ...unused })
      .sort({ usedAt: 1 })
      .limit(limit)
      .toArray(),
  );
  if (found.length === 0) return 0;
  const ids = found.map(({ _id }) => _id);
  const needed = new Set(await again(() => messages.distinct("lane", { lane: { $in: ids } })));
  await writeAll(
    again,
    lanes,
    found.map((stored): AnyBulkWriteOperation<StoredLane> => {
      const { _id, entries, usedAt } = stored;
      const filter = { _id, entries, ...unused };
      return needed.has(_id) || !isForgettable(rowFrom(stored), usedAt, now)
        ? { updateOne: { filter, update: { $set: { usedAt: now } } } }
        : { deleteOne: { filter } };
    }),
  );
  return found.length;
}
