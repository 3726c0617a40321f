/** The FanOuts port, and the queries that other parts of the adapter make on fan-outs. */
import {
  advanceTo,
  allShards,
  areSameLimits,
  type FanOut,
  type FlowId,
  flowsOf,
  type GroupChunkId,
  limits,
  type MessageId,
  type QueueId,
} from "@posthaste/domain";
import { type FanOuts, type Rung } from "@posthaste/ports";
import { type Due, ringDue } from "../alarms.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { enter, type Entry, type LaneState, laneStateOf } from "../lanes/lanes.ts";
import { inOneReply, type Store } from "../messages/store.ts";
import { isKnownFormat } from "../messages/stored.ts";
import { enterFanOut, lastPlaceOf, wakeQueues } from "../queues/alarms.ts";
import { fanOutFrom, fanOutsName, type StoredFanOut } from "./stored-fan-out.ts";
import { idsOf } from "../query/ids-of.ts";

export const createFanOuts = (store: Store): FanOuts => ({
  insert: async (fanOut, _intake, deduplication = []) => {
    const { sets, joins } = flowsOf(fanOut);
    const lanes = [...sets, ...(joins ? [joins] : [])].map(({ lane }) => lane);
    const standing = await laneStateOf(store, [...new Set(lanes)]);
    const place = joins && (standing.get(joins.lane)?.place ?? 0) + 1;
    const queuePlace = fanOut.queue && (await lastPlaceOf(store, fanOut.queue)) + 1;
    const repeatableUntil = store.clock.now() + limits.deduplicationPendingMsMax;
    const document = {
      ...storedFrom(fanOut, store.token()),
      ...(place !== undefined && { place }),
      ...(queuePlace !== undefined && { queuePlace }),
      ...(deduplication.length > 0 && { repeatableUntil }),
    };
    if (!(await insertOne(store, document))) return "known";
    // Before the answer, so that messages published later are behind all children.
    await enter(store, entriesOf(fanOut, standing, place));
    if (queuePlace !== undefined) await enterFanOut(store, fanOut, queuePlace);
    return "inserted";
  },
  get: async (tenant, ids) => {
    const filter = { _id: { $in: [...ids] }, tenant, ...isKnownFormat };
    const found = await store.again(() => store.fanOuts.find(filter, inOneReply).toArray());
    const byId = new Map(found.map((stored) => [stored._id, stored]));
    return ids.map((id) => {
      const stored = byId.get(id);
      return stored && fanOutFrom(stored);
    });
  },
  expanding: async (tenant, after, before, limit) => {
    const _id = { ...(after !== undefined && { $gt: after }), $lt: before };
    const shard = { $in: [...allShards] };
    const filter = { _id, tenant, shard, wakeAt: { $exists: true }, ...isKnownFormat };
    return idsOf(store.again, store.fanOuts, filter, { sort: { _id: 1 }, limit });
  },
  advance: async (id, from, upTo, done) => {
    const { state, wakeAt } = advanceTo(upTo, done, store.clock.now());
    const changedBy = store.token();
    const $set = {
      upTo,
      changedBy,
      ...(wakeAt !== undefined && { wakeAt }),
      ...(state.kind === "expanded" && { endedAt: state.endedAt, sweepAt: state.endedAt }),
    };
    const update = { $set, ...(wakeAt === undefined && { $unset: { wakeAt: "" as const } }) };
    const filter = { _id: id, upTo: from, endedAt: { $exists: false }, ...isKnownFormat };
    const asked = { projection: { tenant: 1, queue: 1 } };
    const advanced =
      (await store.again(() => store.fanOuts.findOneAndUpdate(filter, update, asked))) ??
      // An earlier try, whose reply was lost, has made the change.
      (await store.again(() => store.fanOuts.findOne({ _id: id, changedBy }, asked)));
    if (advanced?.queue !== undefined) await wakeQueues(store, [{ ...advanced, id }]);
    return advanced !== null;
  },
});

async function insertOne({ again, fanOuts }: Store, document: StoredFanOut): Promise<boolean> {
  const known = await insertMissing(again, fanOuts, [document]);
  if (known.size === 0) return true;
  const ours = { _id: document._id, insertedBy: document.insertedBy };
  return (await again(() => fanOuts.countDocuments(ours))) === 1;
}

function entriesOf(
  fanOut: FanOut,
  standing: ReadonlyMap<FlowId, LaneState>,
  first: number | undefined,
): readonly Entry[] {
  const { sets, joins } = flowsOf(fanOut);
  const setting = sets.map((flow) => {
    const known = standing.get(flow.lane);
    const wakes = known !== undefined && !areSameLimits(known.limits, flow.limits);
    return { flow, wakes, setsLimits: true };
  });
  if (!joins || first === undefined) return setting;
  const place = first + fanOut.endpointCount - 1;
  return [...setting, { flow: joins, wakes: false, place, setsLimits: false }];
}

function storedFrom(fanOut: FanOut, insertedBy: string): StoredFanOut {
  const { id: _id, format, state, wakeAt, ...rest } = fanOut;
  return {
    ...rest,
    _id,
    ...(format !== undefined && { format }),
    upTo: state.kind === "expanding" ? state.upTo : fanOut.endpointCount,
    ...(wakeAt !== undefined && { wakeAt }),
    insertedBy,
  };
}

export async function ringFanOuts(store: Store, ...due: Due): Promise<readonly Rung[]> {
  const found = await ringDue<StoredFanOut>(store, fanOutsName, due, { tenant: 1 });
  return found.map(({ _id: id, tenant }) => ({ kind: "fanOut", id, tenant }));
}

/** The places reserved for the first child of a fan-out: in the line of its flow key and in its queue. */
export type Reserved = Pick<StoredFanOut, "place" | "queuePlace">;

export async function reservedOf(
  { again, fanOuts }: Store,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, Reserved>> {
  if (ids.length === 0) return new Map();
  const filter = { _id: { $in: [...new Set(ids)] } };
  const found = await again(() =>
    fanOuts.find(filter, { projection: { place: 1, queuePlace: 1 } }).toArray(),
  );
  return new Map(found.map((stored) => [stored._id, stored]));
}

/** Returns the lowest place in `queue`, behind `after`, that is reserved for a child not made yet. */
export async function firstUnmade(
  { again, fanOuts }: Store,
  queue: QueueId,
  after: number,
): Promise<number | undefined> {
  const filter = { queue, queuePlace: { $gt: after }, endedAt: { $exists: false } };
  const found = await again(() =>
    fanOuts
      .find(filter, { projection: { queuePlace: 1, upTo: 1 } })
      .sort({ queue: 1, queuePlace: 1 })
      .limit(1)
      .next(),
  );
  return found ? (found.queuePlace ?? 0) + found.upTo : undefined;
}

export function createReferred({
  again,
  fanOuts,
}: Pick<Store, "again" | "fanOuts">): (
  chunks: readonly GroupChunkId[],
) => Promise<ReadonlySet<GroupChunkId>> {
  return async (chunks) => {
    if (chunks.length === 0) return new Set();
    const filter = { chunks: { $in: [...chunks] }, endedAt: { $exists: false } };
    const found = await again(() => fanOuts.find(filter, { projection: { chunks: 1 } }).toArray());
    return new Set(found.flatMap((stored) => stored.chunks));
  };
}
