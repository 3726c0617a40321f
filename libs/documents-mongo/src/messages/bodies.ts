/**
 * Heavy bodies have documents of their own. A server reads and writes documents whole: rings, sweeps and counts read
 * a record, its claim, each renewal and its settle rewrite it, and none of them needs the body (ADR 102).
 *
 * (1) A body is written before the record that refers to it, under a name that no other insert uses: the record's id
 *     and the token of its insert. A body never changes.
 * (2) A body is removed before its record. A body whose record was never written is found an hour later or more.
 * (3) A statement names as many bodies as `limits.readBytesMax` holds, and at least one, so that it ends in time.
 */
import { limits, type MessageRecord, portionsOf } from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { insertTogether } from "../writes/insert-together.ts";
import { type Store } from "./store.ts";
import { type StoredRecord } from "./stored.ts";
import { nameOfBody, isStoredApart, type StoredBody } from "./stored-body.ts";

type Refers = Pick<StoredRecord, "_id" | "insertedBy" | "bodyApart" | "bodyBytes">;

const strayAfterMs = 3_600_000;
/** A process that paused for this long after writing a body does not refer to it any more: the sweep may soon take it for a stray. */
const referMsMax = strayAfterMs / 2;
const lookAgainMs = 86_400_000;
const looksPerSweep = 10;

/**
 * Writes the heavy bodies of `records` and resolves when they are durable. Call the returned function right before
 * writing the records: it throws when too much time has passed to refer to the bodies.
 */
export async function insertBodies(
  { again, bodies, clock, db }: Store,
  records: readonly MessageRecord[],
  insertedBy: string,
): Promise<() => void> {
  const [now, begunMs] = [clock.now(), clock.passedMs()];
  const heavy = records.filter(({ message }) => isStoredApart(message));
  const documents = heavy.map(({ message: { id: record, body }, state }): StoredBody => {
    const from = state.kind === "held" ? Math.max(now, state.dueAt) : now;
    const _id = nameOfBody({ _id: record, insertedBy });
    return { _id, record, body, lookAt: from + strayAfterMs };
  });
  if (documents.length > 0) await again(() => insertTogether(db, bodies, documents));
  return () => {
    if (heavy.length > 0 && clock.passedMs() - begunMs > referMsMax)
      throw new StoreError("unavailable", "bodies were written too long ago to be used");
  };
}

export async function removeBodies(
  { again, bodies }: Store,
  records: readonly Refers[],
): Promise<void> {
  const apart = records.filter(({ bodyApart }) => bodyApart);
  for (const some of inStatements(apart))
    await again(() => bodies.deleteMany({ _id: { $in: some.map(nameOfBody) } }));
}

/** Removes bodies whose records were never written, since their process ended between the two. */
export async function sweepBodies({ again, bodies, clock, messages }: Store): Promise<void> {
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

/** Splits `records` into portions whose bodies one statement may name (3). */
export const inStatements = <T extends Pick<StoredRecord, "bodyBytes">>(
  records: readonly T[],
): Iterable<readonly T[]> =>
  portionsOf(records, ({ bodyBytes }) => bodyBytes, { bytesMax: limits.readBytesMax });
