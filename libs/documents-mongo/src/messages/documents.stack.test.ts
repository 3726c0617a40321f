/** Properties of this adapter alone: sizes, alarms beside the lane's, sweeps, and how few calls each task takes. */
import { describe, expect, it, jest } from "@jest/globals";
import {
  accept,
  type AlarmSource,
  allShards,
  callbackId,
  childOf,
  flowLaneId,
  limits,
} from "@posthaste/domain";
import { type DeduplicationEntry } from "@posthaste/ports";
import {
  aCallbackPlan,
  aKey,
  aMessage,
  anAnswer,
  anEndpoint,
  anotherTenant,
  anOwner,
  aPolicy,
  aTenant,
  byKind,
  aFanOut,
} from "@posthaste/testing";
import { type Document, FindCursor } from "mongodb";
import { type Connection } from "../connection.ts";
import { intercepted } from "../intercepted.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { type Harness, longEnoughMs, openStores, settlementOf } from "./harness.fixture.ts";
import { createRecordPorts } from "./record-ports.ts";
import { fanOutsName } from "../fan-outs/stored-fan-out.ts";
import { bodiesName } from "./stored-body.ts";
import { collectionName } from "./stored.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const mebibyte = 1024 * 1024;
const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it("takes four calls for many messages from publish to the end, when they come at once", async () => {
    const harness = await open();
    const { connection: counted, calls } = counting(harness.connection);
    const { records } = createRecordPorts(counted, counted);
    const sent = harness.messages(200);

    await Promise.all(sent.map((message) => harness.insert([message], records)));
    const claims = await Promise.all(sent.map(({ id }) => records.claim([id], anOwner)));
    const claimed = claims.flat();
    const settled = await Promise.all(
      claimed.map((record) => records.settle([settlementOf(record, harness.clock.now())])),
    );

    expect(claimed).toHaveLength(200);
    expect(settled.flat()).toEqual(sent.map(() => ({ kind: "ok", left: [] })));
    expect(calls()).toBe(4);
  });

  it("rings one source, and finds its next alarm, with commands to its own collections alone", async () => {
    const { alarms, clock, insert, messages, queries } = await open();
    await alarms.ring(allShards, 500);
    const sent = (): number => Object.values(queries.commands()).reduce((sum, n) => sum + n, 0);
    const commandsOf = async (sources?: readonly AlarmSource[]): Promise<number> => {
      await insert(messages(1, { delayMs: 1_000 }));
      await clock.advance(1_000);
      const before = sent();
      expect((await alarms.ring(allShards, 500, sources)).rung).toHaveLength(1);
      await alarms.next(allShards, sources);
      return sent() - before;
    };

    expect([await commandsOf(["record"]), await commandsOf()]).toEqual([5, 21]);
  });

  it("walks along the records of a tenant that has few among many of others", async () => {
    const harness = await open();
    const { clock, insertMany, insertOne, queries, records } = harness;
    const theirs = (): Promise<unknown> => insertMany(300, { tenant: anotherTenant });
    const first = await insertOne();
    await theirs();
    const second = await insertOne();
    await finish(harness, await insertOne());
    await theirs();
    const upTo = { id: harness.ids.next(), at: clock.now() };
    await insertOne();
    const before = queries.commands()["find"] ?? 0;
    const bounds = { upTo, foundMax: 10, lookedMax: 20 };

    expect(await records.matching(aTenant, {}, bounds)).toEqual({ ids: [first.id, second.id] });

    const behind = await records.matching(aTenant, {}, { ...bounds, after: first.id });
    expect(behind).toEqual({ ids: [second.id] });
    expect((queries.commands()["find"] ?? 0) - before).toBeLessThanOrEqual(8);
    expect(queries.otherConcerns()).toEqual([]);
  });

  it("walks along all, where a tenant has more than a step may look at", async () => {
    const { clock, ids, insertMany, records } = await open();
    await insertMany(100, { tenant: anotherTenant });
    const mine = await insertMany(50);
    const upTo = { id: ids.next(), at: clock.now() };
    const found: string[] = [];
    let after: string | undefined;
    let steps = 0;

    do {
      const bounds = { upTo, foundMax: 10, lookedMax: 20, ...(after !== undefined && { after }) };
      const walked = await records.matching(aTenant, {}, bounds);
      found.push(...walked.ids);
      after = walked.next;
      steps += 1;
    } while (after !== undefined && steps < 50);

    expect(found).toEqual(mine.ids);
  });

  it("renews hundreds of claims in one statement for each epoch, and for beginning calls", async () => {
    const { claim, clock, insertMany, queries, records } = await open();
    const { ids } = await insertMany(300);
    await claim(ids.slice(0, 100));
    await clock.advance(longEnoughMs);
    const claimed = await claim(ids);
    const refs = claimed.map(({ message: { id }, epoch }) => ({ id, epoch }));
    const begun = refs.slice(250).map((ref) => ({ ...ref, begins: true as const }));
    await clock.advance(10_000);
    const before = queries.updates();

    const lost = await Promise.all(
      [...refs.slice(0, 250), ...begun].map((ref) => records.renew([ref])),
    );

    expect(lost.flat()).toEqual([]);
    expect(new Set(refs.map(({ epoch }) => epoch))).toEqual(new Set([1, 2]));
    expect(queries.updates() - before).toBeLessThanOrEqual(4);
    const renewed = await records.get(aTenant, ids);
    expect(new Set(renewed.map((record) => record?.wakeAt))).toEqual(
      new Set([clock.now() + limits.leaseMs]),
    );
  });

  it("keeps records whose log rows are missing out of the index that earlier builds sweep", async () => {
    const harness = await open();
    const { ids } = await harness.insertMany(1, { policy: aPolicy({ labels: ["rare"] }) });
    await harness.settle(await harness.claim(ids));

    const stored = await harness.connection.collection(collectionName).find().toArray();

    expect(stored[0]).toMatchObject({ state: "delivered", owedSweepAt: harness.clock.now() });
    expect(stored[0]).not.toHaveProperty("sweepAt");
  });

  it("writes a record that is unchanged again, alone, and does not take it for a fenced one", async () => {
    const harness = await open();
    const { records } = createRecordPorts(refusing(harness.connection, 2), harness.connection);
    const { ids } = await harness.insertMany(6);
    const claimed = await harness.claim(ids);

    const settled = await records.settle(
      claimed.map((record) => settlementOf(record, harness.clock.now())),
    );

    expect(settled.map(({ kind }) => kind)).toEqual(ids.map(() => "ok"));
    const standing = await harness.records.get(aTenant, ids);
    expect(standing.map((record) => record?.state.kind)).toEqual(ids.map(() => "delivered"));
  });

  it("says that the store is unavailable when its server repeatedly writes nothing", async () => {
    const harness = await open();
    const { records } = createRecordPorts(refusing(harness.connection), harness.connection);
    const { ids } = await harness.insertMany(2);
    const claimed = await harness.claim(ids);

    const settling = records.settle(
      claimed.map((record) => settlementOf(record, harness.clock.now())),
    );

    await expect(settling).rejects.toMatchObject({ code: "unavailable" });
  });

  it.each(ways)(
    "settles many in one statement, and the fenced ones alone are fenced%s",
    async (_, through) => {
      const harness = await open();
      const { clock } = harness;
      const { records } = createRecordPorts(through(harness.connection), harness.connection);
      const { ids } = await harness.insertMany(6, { policy: aPolicy({ labels: ["rare"] }) });
      const claimed = await harness.claim(ids);
      const taken = claimed.slice(1, 3).map(({ message: { id } }) => id);
      await clock.advance(longEnoughMs);
      await harness.claim(taken);

      const settled = await records.settle(
        claimed.map((record) => settlementOf(record, clock.now())),
      );

      const kinds = claimed.map(({ message: { id } }) => (taken.includes(id) ? "fenced" : "ok"));
      expect(settled.map(({ kind }) => kind)).toEqual(kinds);
      for (const each of settled)
        if (each.kind === "ok") expect(each.owed ?? each.left[0]).toMatchObject({ kind: "fact" });
    },
  );

  it("inserts the children of a group in one call, however large the body that they share", async () => {
    const harness = await open();
    const { connection: counted, calls } = counting(harness.connection);
    const fanOut = aFanOut({ command: { body: new Uint8Array(8 * mebibyte) } });
    await harness.fanOuts.insert(fanOut, "new");
    const children = Array.from({ length: 200 }, (_, n) => childOf(fanOut, anEndpoint(), n));

    const answers = await harness.insert(children, createRecordPorts(counted, counted).records);

    expect(new Set(answers)).toEqual(new Set(["inserted"]));
    expect(calls()).toBe(1);
    const [read] = await harness.records.get(aTenant, [children[7]?.id ?? fanOut.id]);
    expect(read?.message.body).toHaveLength(8 * mebibyte);
  });

  it("lets a record that is too large fail alone", async () => {
    const { insert, messages, records } = await open();
    const [large, ...others] = [
      ...messages(1, { body: new Uint8Array(17 * mebibyte) }),
      ...messages(3),
    ];
    if (!large) throw new Error("unreachable");

    const outcomes = await Promise.allSettled([large, ...others].map((each) => insert([each])));

    expect(outcomes.map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    const found = await records.get(aTenant, [large.id, ...others.map(({ id }) => id)]);
    expect(found.map((record) => record !== undefined)).toEqual([false, true, true, true]);
  });

  it("returns the progress of a message without its body, its headers or its outbox, however large", async () => {
    const harness = await open();
    const [, child] = await insertFanOut(harness);
    const { id } = await harness.insertOne({ body: new Uint8Array(mebibyte) });
    const replies: Document[] = [];
    const connection = watched(harness.connection, replies);
    const { records } = createRecordPorts(connection, connection);
    const ids = [id, child.id];

    const progress = await records.progress(aTenant, ids);

    expect(progress).toMatchObject([{ retried: 0 }, { retried: 0 }]);
    expect(replies.map(({ _id }) => String(_id)).toSorted()).toEqual(ids.toSorted());
    for (const reply of replies) {
      expect(reply).not.toHaveProperty("body");
      expect(reply).not.toHaveProperty("outbox");
      expect(reply["message"]).not.toHaveProperty("headers");
    }
  });

  it("keeps a large answer beside a large body", async () => {
    const { claim, insertMany, records, settle } = await open();
    const policy = aPolicy({ callback: aCallbackPlan() });
    const { ids } = await insertMany(1, { policy, body: new Uint8Array(15.5 * mebibyte) });

    await settle(await claim(ids), anAnswer(200, { body: new Uint8Array(mebibyte) }));

    const [record] = await records.get(aTenant, ids);
    const callback = record?.outbox.find(({ kind }) => kind === "callback");
    expect(callback?.response).toMatchObject({ truncated: false });
    expect(callback?.response?.body).toHaveLength(mebibyte);
  });

  it("settles a record that one more answer would make too large, without the body of that", async () => {
    const { claim, clock, insertMany, records, settle } = await open();
    const policy = aPolicy({ retriesMax: 2, callback: aCallbackPlan() });
    const { ids } = await insertMany(1, { policy });
    const answer = anAnswer(500, { body: new Uint8Array(9 * mebibyte) });

    for (let attempts = 0; attempts < 2; attempts++) {
      expect(await settle(await claim(ids), answer)).toMatchObject([{ kind: "ok" }]);
      await clock.advance(10_000);
    }

    const [record] = await records.get(aTenant, ids);
    const callbacks = record?.outbox.filter(({ kind }) => kind === "callback") ?? [];
    expect(callbacks.map(({ response }) => [response?.body.length, response?.truncated])).toEqual([
      [9 * mebibyte, false],
      [0, true],
    ]);
  });

  it("gives a message in line an alarm of its own, which rings the lane when no hint was sent", async () => {
    const { clock, connection, insertOne, records, alarms, flowLanes } = await open();
    const message = await insertOne({ flow: oneAtATime });
    // As if the publisher had died between the two writes.
    await connection.collection("lanes").deleteMany({});
    await clock.advance(limits.ringAheadMs);

    const { lanes } = byKind(await alarms.ring(allShards, 100));

    expect(lanes).toEqual([tightLane]);
    expect(await flowLanes.rows([tightLane])).toMatchObject([{ limits: oneAtATime.limits }]);
    expect(await flowLanes.heads(tightLane, 10)).toMatchObject([{ id: message.id }]);
    expect((await records.get(aTenant, [message.id]))[0]?.wakeAt).toBeUndefined();
  });

  it("reads the heads of many lines, short ones and lines longer than a page", async () => {
    const { insert, messages, flowLanes } = await open();
    const counts = [3, 1_100, 2, 0, 5, ...Array.from({ length: 20 }, () => 1), 300];
    const lines = counts.map((count, n) =>
      messages(count, { flow: { ...oneAtATime, key: `lane-${n}` } }),
    );
    await insert(lines.flat());

    const heads = await Promise.all(
      counts.map((_, n) => flowLanes.heads(flowLaneId(aTenant, `lane-${n}`), 4)),
    );

    expect(heads.map((line) => line.map(({ id }) => id))).toEqual(
      lines.map((line) => line.slice(0, 4).map(({ id }) => id)),
    );
  });

  it("does not let fan-outs whose children wait block messages that can go", async () => {
    const harness = await open();
    const { clock, records } = harness;
    const [fanOut] = await insertFanOut(harness);
    const done = aMessage({ id: harness.ids.next(), now: clock.now() });
    await clock.advance(1_000);
    await finish(harness, done);
    await clock.advance(1_000);

    expect(await records.removeFinished(allShards, clock.now(), 1)).toBe(1);
    expect(await records.get(aTenant, [done.id])).toEqual([undefined]);
    expect((await harness.fanOuts.get(aTenant, [fanOut.id]))[0]?.state.kind).toBe("expanded");
  });

  it("forgets a derived id when its tombstone's day is over", async () => {
    const harness = await open();
    const { clock, ids, keptBodies, records } = harness;
    const message = aMessage({ id: callbackId(ids.next(), 0), now: clock.now() });
    await finish(harness, message);
    await clock.advance(1_000);
    await records.removeFinished(allShards, clock.now(), 10);
    await keptBodies.sweep(aTenant, clock.now(), 10);
    expect(await harness.insert([message])).toEqual(["known"]);
    await clock.advance(limits.tombstoneMs);

    await records.removeFinished(allShards, clock.now(), 10);

    expect(await harness.insert([message])).toEqual(["inserted"]);
  });

  it("knows a message published with a deduplication id for as long as the id may be repeated, even after the message was removed", async () => {
    const harness = await open();
    const { clock, records } = harness;
    const [message, plain] = harness.messages(2, { policy: aPolicy({ labels: ["rare"] }) });
    if (!message || !plain) throw new Error("unreachable");
    const deduplication = [{ key: aKey("a"), id: message.id }];
    await finish(harness, message, deduplication);
    await finish(harness, plain);
    await clock.advance(limits.finishedKeepMs);
    await records.removeFinished(allShards, clock.now(), 10);
    await harness.keptBodies.sweep(aTenant, clock.now(), 10);

    expect(await records.get(aTenant, [message.id, plain.id])).toEqual([undefined, undefined]);
    expect(await harness.insert([message, plain])).toEqual(["known", "inserted"]);
    await clock.advance(limits.deduplicationPendingMsMax);
    await records.removeFinished(allShards, clock.now(), 10);
    expect(await harness.insert([message])).toEqual(["inserted"]);
  });

  it("leaves out a record whose body is missing, and says so", async () => {
    const harness = await open();
    const [fanOut, child] = await insertFanOut(harness);
    await harness.connection.collection<{ _id: string }>("fan_outs").deleteOne({ _id: fanOut.id });

    expect(await harness.claim([child.id])).toEqual([]);
    expect(await harness.records.get(aTenant, [child.id])).toEqual([undefined]);
    const said = harness.log.lines.filter(({ event }) => event === "documents.body_missing");
    expect(said.map(({ fields }) => fields)).toEqual([
      { messageId: child.id },
      { messageId: child.id },
    ]);
  });
});

async function insertFanOut({ clock, fanOuts, insert }: Harness) {
  const fanOut = aFanOut({ now: clock.now(), endpointCount: 1 });
  await fanOuts.insert(fanOut, "new");
  const child = childOf(fanOut, anEndpoint(0), 0);
  await insert([child]);
  await fanOuts.advance(fanOut.id, 0, 1, true);
  return [fanOut, child] as const;
}

async function finish(
  { records, clock }: Harness,
  message: ReturnType<typeof aMessage>,
  deduplication?: readonly DeduplicationEntry[],
): Promise<void> {
  const record = accept(message, clock.now());
  await records.insert([deduplication ? { record, deduplication } : { record }], "new");
  const [claimed] = await records.claim([message.id], anOwner);
  if (!claimed) throw new Error(`${message.id} could not be claimed`);
  await records.settle([settlementOf(claimed, clock.now())]);
  await records.clear([{ id: message.id, attempt: 0, item: "fact" }]);
}

function counting(connection: Connection) {
  let calls = 0;
  const again: Connection["again"] = (task) => {
    calls += 1;
    return connection.again(task);
  };
  return { connection: { ...connection, again }, calls: () => calls };
}

/** Returns a connection whose first `statements` on messages do nothing and report no match. */
function refusing(connection: Connection, statements = Number.POSITIVE_INFINITY): Connection {
  let left = statements;
  return intercepted(connection, [collectionName], ({ name, go }) => {
    const refuses = (name === "updateMany" || name === "bulkWrite") && left-- > 0;
    return refuses ? Promise.resolve({ matchedCount: 0, modifiedCount: 0 }) : go();
  });
}

/** Returns a connection that records which documents its cursors return. */
const watched = (connection: Connection, replies: Document[]): Connection =>
  intercepted(connection, [collectionName, fanOutsName, bodiesName], ({ go }) => {
    const cursor = go();
    if (!(cursor instanceof FindCursor)) return cursor;
    return cursor.map((found: Document) => {
      replies.push(found);
      return found;
    });
  });
