/**
 * The least that keeps the promise over a document store and a bus, in two processes, with the parts and batches of the six
 * services. One process inserts, answers and hands over; the other signs, calls, settles, logs and removes.
 *
 * `node least-apart.ts gateway|deliverer <port> <brokers> <MongoDB's address> <Redis' address> <room>`. Both answer on their
 * port.
 */
import { hash } from "node:crypto";
import { createServer } from "node:http";
import { Kafka, logLevel } from "kafkajs";
import { Binary, MongoClient } from "mongodb";
import { type Publish, serve } from "./accept.ts";
import { deliver } from "./deliver.ts";
import { gather } from "./gather.ts";
import { Guards } from "./guards.ts";
import { signature } from "./sign.ts";

const [role, portText, brokers = "", uri = "", redis = "", room = ""] = process.argv.slice(2);
const port = Number(portText);
const partitions = 16;
const batchMax = 500;
const joinedMax = 64;
const leaseMs = 10_000;
const keptMs = 30_000;

type Message = { readonly _id: string; readonly [field: string]: unknown };
/** The form on the bus, with `delivery.body` in base64. */
type Hint = Publish & { readonly createdAt: number };
type Told = { readonly hint: Hint; readonly startedAt: number; readonly endedAt: number };

let next = 0;
const kafkaMessage = (hints: readonly Hint[]) => ({
  value: JSON.stringify(hints),
  partition: next++ % partitions,
});

const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.NOTHING });
const topic = `${room}.due`;
const durable = { writeConcern: { w: "majority", journal: true }, retryWrites: false } as const;
const database = (await new MongoClient(uri, durable).connect()).db(room);
const messages = database.collection<Message>("messages");
const log = database.collection<Message>("log");
const guards = new Guards(redis, room);
await (role === "gateway" ? runGateway() : runDeliverer());

async function runGateway(): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }] });
  await admin.disconnect();
  await messages.createIndexes([
    { key: { wakeAt: 1 }, partialFilterExpression: { wakeAt: { $exists: true } } },
    { key: { sweepAt: 1 }, partialFilterExpression: { sweepAt: { $exists: true } } },
  ]);
  await log.createIndexes([{ key: { at: 1 } }, { key: { message: 1 } }]);
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();

  const handOver = gather<Hint>(batchMax, async (hints) => {
    const groups = Array.from({ length: Math.ceil(hints.length / joinedMax) }, (_, n) =>
      hints.slice(n * joinedMax, (n + 1) * joinedMax),
    );
    await producer.send({ topic, acks: -1, messages: groups.map(kafkaMessage) });
  });
  const insert = gather<{
    readonly hint: Hint;
    readonly body: Buffer;
    readonly answer: () => void;
  }>(batchMax, async (inserts) => {
    await messages.insertMany(
      inserts.map(({ hint: { id, createdAt, delivery }, body }) => ({
        ...{ _id: id, state: "claimed", epoch: 1, createdAt, wakeAt: createdAt + leaseMs },
        ...{ url: delivery.url, headers: delivery.headers, body: new Binary(body) },
      })),
      { ordered: false },
    );
    for (const { hint, answer } of inserts) {
      answer();
      if (hint.isGuarded === true) guards.acquire({ id: hint.id, done: () => handOver(hint) });
      else handOver(hint);
    }
  });
  serve(port, ({ delivery, ...publish }, answer) => {
    const body = Buffer.from(delivery.body);
    const hint = {
      ...publish,
      createdAt: Date.now(),
      delivery: { ...delivery, body: body.toString("base64") },
    };
    const accept = () => insert({ hint, body, answer });
    if (publish.isGuarded === true)
      guards.claim({
        id: hash("sha256", Buffer.concat([Buffer.from(delivery.url), body])),
        done: accept,
      });
    else accept();
  });
}

async function runDeliverer(): Promise<void> {
  const swept: { readonly id: string; readonly at: number }[] = [];
  const append = gather<Told>(
    batchMax,
    async (told) => {
      await log.insertMany(
        told.map(({ hint: { id, createdAt, delivery }, startedAt, endedAt }) => ({
          ...{ _id: `${id}:1`, at: endedAt, message: id, state: "DELIVERED", createdAt, startedAt },
          ...{ url: delivery.url, headers: delivery.headers },
        })),
        { ordered: false },
      );
    },
    100,
  );
  const settle = gather<Told>(
    batchMax,
    async (told) => {
      const ids = told.map(({ hint }) => hint.id).sort();
      const ended = { state: "delivered", sweepAt: Date.now() };
      await messages.updateMany(
        { _id: { $in: ids }, epoch: 1, state: "claimed" },
        { $set: ended, $unset: { wakeAt: "" } },
      );
      for (const each of told) {
        swept.push({ id: each.hint.id, at: ended.sweepAt });
        if (each.hint.isGuarded === true) guards.release(each.hint.id);
        append(each);
      }
    },
    5,
  );
  const call = (hint: Hint): void => {
    const { id, delivery } = hint;
    const startedAt = Date.now();
    const publish = {
      id,
      delivery: { ...delivery, body: Buffer.from(String(delivery.body), "base64") },
    };
    const headers = { ...delivery.headers, "service-signature": signature(publish, startedAt) };
    deliver({ ...publish.delivery, headers }, (outcome) => {
      if (outcome !== 200) console.error("least: a delivery failed", outcome);
      settle({ hint, startedAt, endedAt: Date.now() });
    });
  };
  const sweep = gather<string>(2 * batchMax, async (ids) => {
    await messages.deleteMany({ _id: { $in: [...ids] } });
  });
  setInterval(() => {
    const old = swept.findIndex(({ at }) => at > Date.now() - keptMs);
    for (const { id } of swept.splice(0, old < 0 ? swept.length : old)) sweep(id);
  }, 1_000);

  await listen(call);
}

async function listen(call: (hint: Hint) => void): Promise<void> {
  const consumer = kafka.consumer({ groupId: `${room}.deliverer`, maxWaitTimeInMs: 150 });
  await consumer.connect();
  await consumer.subscribe({ topic });
  const heard = new Map<number, string>();
  setInterval(() => {
    const offsets = [...heard].map(([partition, offset]) => ({ topic, partition, offset }));
    heard.clear();
    if (offsets.length > 0) void consumer.commitOffsets(offsets);
  }, 250);
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: partitions,
    eachBatch: async ({ batch }) => {
      for (const { value } of batch.messages)
        for (const hint of JSON.parse(String(value)) as readonly Hint[]) call(hint);
      heard.set(batch.partition, String(BigInt(batch.lastOffset()) + 1n));
    },
  });
  createServer((_request, response) => response.end("ok")).listen(port, "127.0.0.1");
}
