/**
 * Heavy bodies stand apart from their records, one document each. A server reads and writes documents whole: a record is read
 * by rings, sweeps and counts, and rewritten by its claim, each renewal and its settle, and none of them wants the body (ADR 102).
 *
 * (1) A body is written before the record that refers to it, under a name that no other insert uses: the record's id and the
 *     token of its insert. It is never changed.
 * (2) It goes before its record goes. One whose record was never written is found an hour later or more.
 * (3) A statement names as many as `limits.readBytesMax` holds, and one at least: so it ends in its time, however many are wanted.
 */
import { limits, type MessageRecord } from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { insertTogether } from "../insert-together.ts";
import { type Rooms } from "./rooms.ts";
import { type StoredRecord } from "./stored.ts";
import { nameOfBody, standsApart, type StoredBody } from "./stored-body.ts";

type Refers = Pick<StoredRecord, "_id" | "insertedBy" | "bodyApart" | "bodyBytes">;

const strayAfterMs = 3_600_000;
/** A process that has paused for so long since it wrote a body refers to it no more: it may be taken for a stray soon. */
const referMsMax = strayAfterMs / 2;
const lookAgainMs = 86_400_000;
const looksPerSweep = 10;

/** Resolves when they are safe. To be asked again right before their records are written: whether that may be done still. */
export async function insertBodies(
  { again, bodies, clock, db }: Rooms,
  records: readonly MessageRecord[],
  insertedBy: string,
): Promise<() => void> {
  const [now, begunMs] = [clock.now(), clock.passedMs()];
  const heavy = records.filter(({ message }) => standsApart(message));
  const documents = heavy.map(({ message: { id: record, body }, state }): StoredBody => {
    const from = state.kind === "held" ? Math.max(now, state.dueAt) : now;
    const _id = nameOfBody({ _id: record, insertedBy });
    return { _id, record, body, lookAt: from + strayAfterMs };
  });
  if (documents.length > 0) await again(() => insertTogether(db, bodies, documents));
  return () => {
    if (heavy.length > 0 && clock.passedMs() - begunMs > referMsMax)
      throw new StoreError("unavailable", "bodies were written too long ago to be referred to");
  };
}

export async function removeBodies(
  { again, bodies }: Rooms,
  records: readonly Refers[],
): Promise<void> {
  const apart = records.filter(({ bodyApart }) => bodyApart);
  for (const some of portionsOf(apart))
    await again(() => bodies.deleteMany({ _id: { $in: some.map(nameOfBody) } }));
}

/** Removes bodies whose records were never written: of a process that ended between the two. */
export async function sweepBodies({ again, bodies, clock, messages }: Rooms): Promise<void> {
  const now = clock.now();
  const found = await again(() =>
    bodies
      .find({ lookAt: { $lte: now } }, { projection: { record: 1 } })
      .sort({ lookAt: 1 })
      .limit(looksPerSweep)
      .toArray(),
  );
  if (found.length === 0) return;
  const ids = found.map(({ record }) => record);
  const records = await again(() =>
    messages.find({ _id: { $in: ids } }, { projection: { insertedBy: 1 } }).toArray(),
  );
  const wanted = new Set(records.map(nameOfBody));
  for (const { _id } of found)
    if (wanted.has(_id))
      await again(() => bodies.updateOne({ _id }, { $set: { lookAt: now + lookAgainMs } }));
    else await again(() => bodies.deleteOne({ _id }));
}

/** As (3) says. */
export function* portionsOf<T extends Pick<StoredRecord, "bodyBytes">>(
  records: readonly T[],
): Generator<readonly T[]> {
  let portion: T[] = [];
  let bytes = 0;
  for (const record of records) {
    if (portion.length > 0 && bytes + record.bodyBytes > limits.readBytesMax) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(record);
    bytes += record.bodyBytes;
  }
  if (portion.length > 0) yield portion;
}
