/** Heavy bodies: where they are stored, how many a statement names, and that none is left behind. */
import { describe, expect, it, jest } from "@jest/globals";
import { allShards, limits, type Message } from "@posthaste/domain";
import { aCallbackPlan, aMessage, aPolicy, aTenant, byKind } from "@posthaste/testing";
import { type Connection } from "../connection.ts";
import { intercepted } from "../intercepted.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { type Harness, openStores, settlementOf } from "./harness.fixture.ts";
import { createRecordPorts } from "./record-ports.ts";
import { bodiesName, type StoredBody } from "./stored-body.ts";
import { collectionName } from "./stored.ts";

jest.setTimeout(120_000);

const hourMs = 3_600_000;
const heavy = { body: new Uint8Array(limits.namedBodyBytesMax + 1).fill(7) };
const policy = aPolicy({ callback: aCallbackPlan() });

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it("are stored apart from their records in every state, and are read with them", async () => {
    const harness = await open();
    const { clock, records } = harness;
    const read: unknown[] = [];
    const lookAt = async (body: Uint8Array | undefined) => {
      expect(await storedBytesOf(harness)).toBeLessThan(heavy.body.length / 4);
      read.push(body?.length);
    };

    const { ids } = await harness.insertMany(1, { ...heavy, policy });
    await lookAt((await records.get(aTenant, ids))[0]?.message.body);
    const claimed = await harness.claim(ids);
    await lookAt(claimed[0]?.message.body);
    await harness.settle(claimed);
    await lookAt((await records.getSome(aTenant, ids)).records[0]?.message.body);
    await clock.advance(limits.ringAheadMs);
    const { followUps } = byKind(await harness.alarms.ring(allShards, 10));
    await lookAt(followUps[0]?.message.body);

    expect(read).toEqual(Array(4).fill(heavy.body.length));
    expect(followUps[0]?.message.body).toEqual(heavy.body);
  });

  it.each(ways)("stay while they are kept, and leave nothing behind%s", async (_, through) => {
    const harness = await open();
    const { keptBodies, records } = createRecordPorts(
      through(harness.connection),
      harness.connection,
    );
    const sent = harness.messages(3, heavy);

    await harness.insert(sent, records);
    await finish(harness, sent);
    await harness.clock.advance(limits.finishedKeepMs);
    await records.removeFinished(allShards, harness.clock.now(), 10);
    const kept = await bodiesOf(harness);

    expect(kept.map(({ record }) => record).toSorted()).toEqual(sent.map(({ id }) => id));
    expect(await keptBodies.sweep(aTenant, harness.clock.now(), 10)).toBe(3);
    expect(await bodiesOf(harness)).toEqual([]);
  });

  it.each(ways)("go with their records, and leave nothing behind%s", async (_, through) => {
    const harness = await open();
    const { records } = createRecordPorts(through(harness.connection), harness.connection);
    const sent = harness.messages(3, heavy);

    await harness.insert(sent, records);
    const before = await bodiesOf(harness);
    await finish(harness, sent);
    await harness.clock.advance(limits.finishedKeepMs);
    await records.removeFinished(allShards, harness.clock.now(), 10, () => false);

    expect(before.map(({ record }) => record).toSorted()).toEqual(sent.map(({ id }) => id));
    expect(await bodiesOf(harness)).toEqual([]);
    expect(await records.get(aTenant, [sent[0]?.id ?? aMessage().id])).toEqual([undefined]);
  });

  it("are the bodies of the first insert of an id, however often it is inserted", async () => {
    const harness = await open();
    const message = aMessage({ ...heavy, id: harness.ids.next() });
    const other = { ...message, body: new Uint8Array(heavy.body.length).fill(8) };

    const answers = [await harness.insert([message]), await harness.insert([other])];

    expect(answers).toEqual([["inserted"], ["known"]]);
    expect((await harness.claim([message.id]))[0]?.message.body).toEqual(heavy.body);
    expect(await bodiesOf(harness)).toHaveLength(1);
  });

  it("whose records were never written are removed an hour later, and bodies of waiting records are kept", async () => {
    const harness = await open();
    const { clock, connection, records } = harness;
    const lost = await harness.insertOne(heavy);
    const waiting = await harness.insertOne(heavy);
    const delayed = await harness.insertOne({ ...heavy, delayMs: 2 * hourMs });
    // As if the publisher had died between the two writes.
    await connection.collection<{ _id: string }>(collectionName).deleteOne({ _id: lost.id });

    await clock.advance(hourMs - 1);
    await records.removeFinished(allShards, 0, 10);
    const before = await bodiesOf(harness);
    await clock.advance(1);
    await records.removeFinished(allShards, 0, 10);
    const after = await bodiesOf(harness);

    expect(before).toHaveLength(3);
    expect(after.map(({ record }) => record).toSorted()).toEqual([waiting.id, delayed.id]);
    // A body that was just found to be wanted gets a later look.
    expect(after.filter(({ lookAt }) => lookAt <= clock.now())).toEqual([]);
  });

  it("are read and removed so many bytes at a time, one at least, however many are wanted", async () => {
    const harness = await open();
    const asked: number[] = [];
    const connection = counting(harness.connection, asked);
    const { records } = createRecordPorts(connection, connection);
    const body = new Uint8Array(limits.readBytesMax * 0.4);
    const sent = harness.messages(5, { body });
    for (const message of sent) await harness.insert([message]);

    const ids = sent.map(({ id }) => id);
    const claimed = await harness.claim(ids, records);
    await records.settle(claimed.map((each) => settlementOf(each, harness.clock.now())));
    await harness.clock.advance(limits.finishedKeepMs);
    await records.removeFinished(allShards, harness.clock.now(), 10, () => false);

    expect(claimed.map(({ message }) => message.body.length)).toEqual(Array(5).fill(body.length));
    expect(asked).toEqual([2, 2, 1, 2, 2, 1]);
    expect(await bodiesOf(harness)).toEqual([]);
  });
});

const bodiesOf = ({ connection }: Harness): Promise<readonly StoredBody[]> =>
  connection.collection<StoredBody>(bodiesName).find().toArray();

/** Returns the bytes of the record's document, which a server reads and writes with each access. */
async function storedBytesOf({ connection }: Harness): Promise<number> {
  const [stored] = await connection.collection(collectionName).find().toArray();
  const { body } = stored as { body?: { length: number } };
  return JSON.stringify({ ...stored, body: undefined }).length + (body?.length ?? 0);
}

async function finish(harness: Harness, messages: readonly Message[]): Promise<void> {
  await harness.settle(await harness.claim(messages.map(({ id }) => id)));
}

/** Returns a connection that records how many bodies each statement names. */
const counting = (connection: Connection, asked: number[]): Connection =>
  intercepted(connection, [bodiesName], ({ given: [filter], go }) => {
    const named = (filter as { _id?: { $in?: readonly unknown[] } } | undefined)?._id?.$in;
    if (named) asked.push(named.length);
    return go();
  });
