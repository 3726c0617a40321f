/**
 * The least that takes a queue one at a time over MongoDB, in one process: for each message a write of the turn, a claim, a call and a settle.
 * Each write waits for the majority, and comes after the one before.
 */
import { MongoClient } from "mongodb";
import { deliver } from "./deliver.ts";

type Message = {
  readonly _id: number;
  readonly state: "queued" | "claimed" | "delivered";
  readonly epoch: number;
  readonly body: string;
  readonly wakeAt?: number;
};
type Row = {
  readonly _id: string;
  readonly turns: readonly number[];
  readonly turnsVersion: number;
};

const durable = { writeConcern: { w: "majority", journal: true }, retryWrites: false } as const;
const bodyBytes = 600;
const leaseMs = 30_000;

/** Returns how many messages a second were delivered of `count` that are in line before. */
export async function measureLeastQueue(uri: string, url: string, count: number): Promise<number> {
  const client = await new MongoClient(uri, durable).connect();
  try {
    const database = client.db(`least-queue-${Date.now()}`);
    const rows = database.collection<Row>("queues");
    const messages = database.collection<Message>("messages");
    await messages.createIndexes([{ key: { wakeAt: 1 } }, { key: { state: 1 } }]);
    await rows.insertOne({ _id: "narrow", turns: [], turnsVersion: 0 });
    const body = "x".repeat(bodyBytes);
    const ids = Array.from({ length: count }, (_, id) => id);
    await messages.insertMany(
      ids.map((_id): Message => ({ _id, state: "queued", epoch: 0, body })),
    );
    const begunAt = performance.now();
    for (const id of ids) {
      await rows.updateOne(
        { _id: "narrow", turnsVersion: id },
        { $set: { turns: [id] }, $inc: { turnsVersion: 1 } },
      );
      const claimed = await messages.findOneAndUpdate(
        { _id: id, state: "queued", epoch: 0 },
        { $set: { state: "claimed", wakeAt: Date.now() + leaseMs }, $inc: { epoch: 1 } },
        { returnDocument: "after" },
      );
      await called(url, claimed?.body ?? "");
      await messages.updateOne(
        { _id: id, state: "claimed", epoch: 1 },
        { $set: { state: "delivered" }, $unset: { wakeAt: "" } },
      );
    }
    const seconds = (performance.now() - begunAt) / 1_000;
    await database.dropDatabase();
    return count / seconds;
  } finally {
    await client.close();
  }
}

const called = (url: string, body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    deliver({ url, headers: {}, body }, (outcome) =>
      outcome === 200 ? resolve() : reject(new Error(`a call ended with ${String(outcome)}`)),
    );
  });
