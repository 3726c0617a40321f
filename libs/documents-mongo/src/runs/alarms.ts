/** The alarms of heads: inserts records that the process that wrote the head did not insert. */
import { accept, limits, type Message, type MessageRecord } from "@posthaste/domain";
import { type Rung } from "@posthaste/ports";
import { type Due, ringDue } from "../alarms.ts";
import { isKnownFormat } from "../messages/stored.ts";
import {
  runFrom,
  bodyOf,
  partKey,
  runsName,
  type StoredPart,
  type StoredRun,
  type StoreWithRuns,
} from "./store.ts";
import { waiting } from "./changes.ts";

/** Resolves to the records that were missing, for each head. */
export async function redeliver(
  store: StoreWithRuns,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly (readonly MessageRecord[])[]> {
  const { again, runs } = store;
  const isDue = { deliverAt: { $lte: now, $exists: true }, ...isKnownFormat };
  const found = await again(() =>
    runs
      .find({ shard: { $in: [...shards] }, ...isDue })
      .sort({ deliverAt: 1 })
      .limit(limit)
      .toArray(),
  );
  const redelivered = [];
  for (const stored of found) redelivered.push(await deliverAgain(store, stored));
  return redelivered;
}

/** Inserts the records in the order in which the head names them. Inserting a record that exists, or once existed, changes nothing. */
async function deliverAgain(
  store: StoreWithRuns,
  stored: StoredRun,
): Promise<readonly MessageRecord[]> {
  const { again, clock, insert, parts, runs } = store;
  const { _id, deliver = [], root, version } = stored;
  const left = waiting(deliver, runFrom(stored));
  const deliverAt = clock.now() + limits.ringAheadMs;
  await again(() => runs.updateOne({ _id, version }, { $set: { deliverAt } }));
  let records: readonly MessageRecord[] = [];
  if (left.length > 0) {
    const keys = left.map((name) => partKey(root, name));
    const found = await again(() => parts.find({ _id: { $in: keys } }).toArray());
    const now = clock.now();
    // No hint names them, so each record rings when it is due.
    records = found.flatMap((part) => {
      const message = messageOf(part);
      return message ? accept(message, now, true) : [];
    });
    await insert(
      records.map((record) => ({ record })),
      "accepted",
    );
  }
  await again(() =>
    runs.updateOne({ _id, version }, { $unset: { deliver: "" as const, deliverAt: "" as const } }),
  );
  return records;
}

/** Returns the message that delivers the part. The message about a failure has its part as its body; deliveries of entries have none. */
function messageOf(part: StoredPart): Message | undefined {
  if (!part.message) return undefined;
  const isEntry = part.rank !== undefined;
  return { ...part.message, body: isEntry ? new Uint8Array(0) : bodyOf(part) };
}

export async function nextDeliverAlarm(
  { again, runs }: Pick<StoreWithRuns, "again" | "runs">,
  shards: readonly number[],
): Promise<number | undefined> {
  const next = await again(() =>
    runs.findOne(
      { shard: { $in: [...shards] }, deliverAt: { $gt: 0, $exists: true }, ...isKnownFormat },
      { projection: { deliverAt: 1 }, sort: { deliverAt: 1 } },
    ),
  );
  return next?.deliverAt;
}

export async function ringRuns(store: StoreWithRuns, ...due: Due): Promise<readonly Rung[]> {
  const found = await ringDue<StoredRun>(store, runsName, due, { root: 1 });
  return found.map(({ _id: key, root }) => ({ kind: "run", run: { key, root } }));
}
