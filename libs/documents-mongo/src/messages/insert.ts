/**
 * Inserting: one unordered insert for all that gathered. Uniqueness is in `_id`, so an id that is there, its record or
 * its tombstone, refuses the second, which is a success.
 */
import { type LaneId, type MessageId, type MessageRecord } from "@posthaste/domain";
import { type Insert, type Inserted } from "@posthaste/ports";
import { told } from "../committed.ts";
import { duplicatesIn } from "../failures.ts";
import { createGather, type Gather } from "../gather.ts";
import { enter, lastPlaces } from "./lanes.ts";
import { type Rooms } from "./rooms.ts";
import { storedFrom, type StoredRecord } from "./stored.ts";

export function createInsert(rooms: Rooms): Gather<Insert, Inserted> {
  const insertAll = async (inserts: readonly Insert[]): Promise<readonly Inserted[]> => {
    const records = firstOfEachId(inserts);
    const places = await placesOf(rooms, records);
    const token = rooms.token();
    const now = rooms.clock.now();
    const documents = records.map((record) =>
      storedFrom(record, token, places.get(record.message.id), now),
    );
    const known = await insertMissing(rooms, documents, token);
    const inserted = records.filter(({ message }) => !known.has(message.id));
    await enter(
      rooms,
      inserted.map(({ message, state }) => ({
        message,
        waits: state.kind === "waiting",
        place: places.get(message.id),
        setsLimits: true,
      })),
    );
    const ours = new Set(inserted.map(({ message }) => message.id));
    // `delete` answers true once: of one id in a batch the first is inserted.
    return inserts.map(({ record }) => (ours.delete(record.message.id) ? "inserted" : "known"));
  };
  return createGather(told(insertAll, rooms.committed), {
    bytesOf: ({ record }) => record.message.body.length,
  });
}

function firstOfEachId(inserts: readonly Insert[]): readonly MessageRecord[] {
  const first = new Map<MessageId, MessageRecord>();
  for (const { record } of inserts)
    if (!first.has(record.message.id)) first.set(record.message.id, record);
  return [...first.values()];
}

async function placesOf(
  rooms: Rooms,
  records: readonly MessageRecord[],
): Promise<ReadonlyMap<MessageId, number>> {
  const lanes = new Set(records.flatMap(({ message }) => message.flowLane ?? []));
  const last = new Map<LaneId, number>(await lastPlaces(rooms, [...lanes]));
  const places = new Map<MessageId, number>();
  for (const { message } of records) {
    if (message.flowLane === undefined) continue;
    const place = (last.get(message.flowLane) ?? 0) + 1;
    last.set(message.flowLane, place);
    places.set(message.id, place);
  }
  return places;
}

/** Answers the ids that were there before this batch. */
async function insertMissing(
  { again, messages }: Rooms,
  documents: readonly StoredRecord[],
  token: string,
): Promise<ReadonlySet<MessageId>> {
  let tries = 0;
  return again(async () => {
    tries += 1;
    let refused: readonly MessageId[] = [];
    try {
      await messages.insertMany([...documents], { ordered: false });
    } catch (error) {
      refused = duplicatesIn(error).flatMap((n) => documents[n]?._id ?? []);
    }
    if (tries === 1 || refused.length === 0) return new Set(refused);
    // An earlier try of ours may have done it without our hearing of it.
    const filter = { _id: { $in: [...refused] }, insertedBy: token };
    const ours = await messages.find(filter, { projection: { _id: 1 } }).toArray();
    return new Set(refused).difference(new Set(ours.map(({ _id }) => _id)));
  });
}
