/**
 * Inserts records with one unordered insert for all that were gathered. Only `_id` is unique: an id that is there, as
 * a record or a tombstone, refuses a second insert, which counts as a success.
 */
import {
  areSameLimits,
  configurationBytes,
  type Flow,
  type FlowId,
  flowOf,
  flowsSetBy,
  limits,
  limitsPublished,
  type Message,
  type MessageId,
  type MessageRecord,
  parentOf,
} from "@posthaste/domain";
import { type Insert, type Inserted } from "@posthaste/ports";
import { type Reserved, reservedOf } from "../fan-outs/fan-outs.ts";
import { reporting } from "../writes/committed.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { insertTogether } from "../writes/insert-together.ts";
import { enterQueues, queuePlacesOf } from "../queues/alarms.ts";
import { insertBodies, removeBodies } from "./bodies.ts";
import { enter, type Entry, pinsFrom, type LaneState, laneStateOf } from "../lanes/lanes.ts";
import { type Store } from "./store.ts";
import { storedFrom, type StoredRecord } from "./stored.ts";

export function createInsert(store: Store): Gather<Insert, Inserted> {
  const insertAll = async (inserts: readonly Insert[]): Promise<readonly Inserted[]> => {
    const records = firstOfEachId(inserts);
    const token = store.token();
    const [standing, reserved, assertMayRefer] = await Promise.all([
      laneStateOf(store, lanesOf(records)),
      reservedOf(store, fanOutsOf(records)),
      insertBodies(store, records, token),
    ]);
    const places = placesOf(standing, reserved, records);
    const reservedInQueue = (message: Message) => reservedFor(reserved, message, "queuePlace");
    const queuePlaces = await queuePlacesOf(store, records, reservedInQueue);
    const placesIn = (id: MessageId) => ({
      place: places.get(id),
      queuePlace: queuePlaces.get(id),
    });
    const now = store.clock.now();
    const repeatable = new Set(
      inserts.flatMap(({ record, deduplication }) => (deduplication ? record.message.id : [])),
    );
    const documents = records.map((record) => ({
      ...storedFrom(record, token, placesIn(record.message.id), now),
      ...(repeatable.has(record.message.id) && {
        repeatableUntil: now + limits.deduplicationPendingMsMax,
      }),
    }));
    assertMayRefer();
    const known = await insertMissing(store, documents, token);
    await removeBodies(
      store,
      documents.filter(({ _id }) => known.has(_id)),
    );
    const inserted = records.filter(({ message }) => !known.has(message.id));
    await enter(
      store,
      inserted.flatMap((record) => entriesOf(record, standing, places.get(record.message.id))),
    );
    await enterQueues(
      store,
      inserted.flatMap(({ message }) =>
        message.queue === undefined
          ? []
          : {
              message,
              place: queuePlaces.get(message.id),
              isReserved: reservedInQueue(message) !== undefined,
            },
      ),
    );
    for (const { message } of inserted)
      if (!message.run)
        store.counts?.add(message.tenant, { at: message.createdAt, state: "CREATED" });
    const ours = new Set(inserted.map(({ message }) => message.id));
    // `delete` returns true once, so of equal ids in a batch the first counts as inserted.
    return inserts.map(({ record }) => (ours.delete(record.message.id) ? "inserted" : "known"));
  };
  return createGather(reporting(insertAll, store.committed), {
    bytesOf,
  });
}

/** Children store no body: their fan-out has it. */
const bytesOf = ({ record: { message } }: Insert): number =>
  configurationBytes(message) + (message.bodyOf === undefined ? message.body.length : 0);

function firstOfEachId(inserts: readonly Insert[]): readonly MessageRecord[] {
  const first = new Map<MessageId, MessageRecord>();
  for (const { record } of inserts)
    if (!first.has(record.message.id)) first.set(record.message.id, record);
  return [...first.values()];
}

function lanesOf(records: readonly MessageRecord[]): readonly FlowId[] {
  const lanes = records.flatMap(({ message }) => [
    ...flowsSetBy(message).map(({ lane }) => lane),
    ...(message.flow === undefined ? [] : [message.flow]),
  ]);
  return [...new Set(lanes)];
}

const fanOutsOf = (records: readonly MessageRecord[]): readonly MessageId[] =>
  records.flatMap(({ message: { bodyOf, flow, queue } }) =>
    bodyOf === undefined || (flow === undefined && queue === undefined) ? [] : bodyOf,
  );

function reservedFor(
  reserved: ReadonlyMap<MessageId, Reserved>,
  { id, bodyOf }: Message,
  of: keyof Reserved,
): number | undefined {
  const first = bodyOf && reserved.get(bodyOf)?.[of];
  return first === undefined ? undefined : first + (parentOf(id)?.index ?? 0);
}

/** Returns the place of each record with a flow key. The place of a child is the one that its fan-out reserved. */
function placesOf(
  standing: ReadonlyMap<FlowId, LaneState>,
  reserved: ReadonlyMap<MessageId, Reserved>,
  records: readonly MessageRecord[],
): ReadonlyMap<MessageId, number> {
  const last = new Map<FlowId, number>();
  const places = new Map<MessageId, number>();
  for (const { message } of records) {
    const { flow, id } = message;
    if (flow === undefined) continue;
    const own = reservedFor(reserved, message, "place");
    if (own !== undefined) {
      places.set(id, own);
      continue;
    }
    const place = (last.get(flow) ?? standing.get(flow)?.place ?? 0) + 1;
    last.set(flow, place);
    places.set(id, place);
  }
  return places;
}

function entriesOf(
  { message, state }: MessageRecord,
  standing: ReadonlyMap<FlowId, LaneState>,
  place: number | undefined,
): readonly Entry[] {
  const changes = ({ lane, limits }: Flow): boolean => {
    const known = standing.get(lane);
    if (!known) return false;
    const published = limitsPublished({ limits: known.limits, pins: pinsFrom(known) }, limits);
    return !areSameLimits(known.limits, published);
  };
  const own = flowOf(message);
  return [
    ...flowsSetBy(message).map((flow) => ({ flow, wakes: changes(flow), setsLimits: true })),
    ...(own ? [{ flow: own, wakes: state.kind === "waiting", place, setsLimits: false }] : []),
  ];
}

async function insertMissing(
  { again, db, messages }: Store,
  documents: readonly StoredRecord[],
  token: string,
): Promise<ReadonlySet<MessageId>> {
  let tries = 0;
  return again(async () => {
    tries += 1;
    const known = await insertTogether(db, messages, documents);
    const refused = [...known].flatMap((n) => documents[n]?._id ?? []);
    if (tries === 1 || refused.length === 0) return new Set(refused);
    // An earlier try, whose reply was lost, may have inserted them.
    const filter = { _id: { $in: [...refused] }, insertedBy: token };
    const ours = await messages.find(filter, { projection: { _id: 1 } }).toArray();
    return new Set(refused).difference(new Set(ours.map(({ _id }) => _id)));
  });
}
