/**
 * The Queues port, over two kinds of documents: a queue's row (stored-queue.ts), and the records in it. Settings change in
 * settings.ts, turns are given in admit.ts; alarms.ts says how messages and fan-outs change the row (docs/design/queues).
 */
import { allShards, liveKinds, queueId, type QueueId } from "@posthaste/domain";
import { type Queue, type Queues } from "@posthaste/ports";
import { type Reading } from "../messages/read.ts";
import { type Store } from "../messages/store.ts";
import { collectionName, type StoredRecord } from "../messages/stored.ts";
import { admitOne } from "./admit.ts";
import { wakeQueues } from "./alarms.ts";
import { end, make, put, resume } from "./settings.ts";
import { isLiving, queuesOf, type StoredQueue } from "./stored-queue.ts";

const lagMax = 100_000;
/** The most queues among which the oldest turn is looked for. */
const agedMax = 10_000;
/** How many lines are counted, and queues admitted from, at once. */
const atOnceMax = 16;

export function createQueues(store: Store, reading: Reading): Queues {
  const queues = queuesOf(store);
  const listed = queuesOf(store.heavy);
  const messages = store.heavy.collection<StoredRecord>(collectionName);
  return {
    make: (tenant, name, max) => make(store, tenant, name, max),
    put: (change, max) => put(store, change, max),
    resume: (tenant, name) => resume(store, tenant, name),
    end: (tenant, name) => end(store, tenant, name),
    get: async (tenant, name) => {
      const found = await store.again(() =>
        queues.findOne({ _id: queueId(tenant, name), ...isLiving }),
      );
      return found ? readQueue(store, found) : undefined;
    },
    list: async (tenant, { after, limit }) => {
      const { heavy } = store;
      const again = heavy.again(tenant);
      const found = await again(() =>
        listed
          .find({ tenant, ...isLiving, name: { $gt: after } })
          .sort({ tenant: 1, name: 1 })
          .limit(limit)
          .maxTimeMS(heavy.msMax)
          .toArray(),
      );
      return portioned(found, (stored) => readQueue({ again, messages, heavy }, stored));
    },
    admit: async (ids, ending) => {
      const look = (id: QueueId) => admitOne(store, reading, id, ending?.owner);
      const looked = await portioned(ids, async (id) => {
        const first = await look(id);
        // The look may have come before the end of the turn was visible.
        if (!ending || !first || first.admitted.given > 0 || !first.isFull) return first;
        await ending.written;
        return look(id);
      });
      return looked.flatMap((each) => each?.admitted ?? []);
    },
    callsEnded: async (tenant, ids) => {
      const filter = { _id: { $in: [...ids] }, tenant };
      const { messages } = store;
      await store.again(() =>
        messages.updateMany(
          { ...filter, state: "canceled", runsUntil: { $exists: true } },
          { $unset: { runsUntil: "" } },
        ),
      );
      const found = await store.again(() =>
        messages.find(filter, { projection: { queue: 1 } }).toArray(),
      );
      await wakeQueues(
        store,
        found.flatMap(({ _id: id, queue }) => (queue === undefined ? [] : { id, tenant, queue })),
      );
    },
    oldestTurn: () => oldestTurn(store),
  };
}

/** The row of a queue that has a turn and is not paused has an alarm, so only rows with an alarm are read. */
async function oldestTurn(store: Store): Promise<number | undefined> {
  const isSet = { $gt: 0, $exists: true };
  const filter = { shard: { $in: [...allShards] }, wakeAt: isSet, paused: false };
  const found = await store.again(() =>
    queuesOf(store)
      .find(filter, { projection: { turns: { $slice: 1 }, given: 1 } })
      .limit(agedMax)
      .toArray(),
  );
  const times = found.flatMap(({ turns: [first], given = [] }) => {
    const oldest = given.find(({ id }) => id === first);
    return oldest ? [oldest.at] : [];
  });
  return times.length > 0 ? Math.min(...times) : undefined;
}

async function readQueue(
  { again, heavy, messages }: Pick<Store, "again" | "heavy" | "messages">,
  stored: StoredQueue,
): Promise<Queue> {
  const { _id: queue, name, parallelism, paused, createdAt, updatedAt } = stored;
  const filter = { queue, state: { $in: [...liveKinds] } };
  const lag = await again(() =>
    messages.countDocuments(filter, { limit: lagMax, maxTimeMS: heavy.msMax }),
  );
  return { name, parallelism, paused, createdAt, updatedAt, lag };
}

async function portioned<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  // Bounded by the items.
  for (let from = 0; from < items.length; from += atOnceMax)
    done.push(...(await Promise.all(items.slice(from, from + atOnceMax).map(work))));
  return done;
}
