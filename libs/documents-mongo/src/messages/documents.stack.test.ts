/** What is this adapter's own: sizes, alarms beside the lane's, what is swept, and how few calls it takes. */
import { describe, expect, it, jest } from "@jest/globals";
import { accept, callbackId, childMessage, flowLaneId, limits } from "@posthaste/domain";
import {
  aCallbackPlan,
  aMessage,
  anAnswer,
  anEndpoint,
  anOwner,
  aPolicy,
  aTenant,
} from "@posthaste/testing";
import { allShards, type Harness, openStores, settlementOf } from "./harness.fixture.ts";
import { createMessageStore } from "./store.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const mebibyte = 1024 * 1024;
const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);

describe.each(servers)("$name", ({ name, uri }) => {
  const open = openStores(uri);

  it("takes five calls for many messages from publish to the end, when they come at once", async () => {
    const harness = await open();
    let calls = 0;
    const counted = {
      ...harness.connection,
      again: <T>(task: () => Promise<T>) => {
        calls += 1;
        return harness.connection.again(task);
      },
    };
    const store = createMessageStore(counted, counted);
    const sent = harness.messages(200);

    await Promise.all(sent.map((message) => harness.insert([message], store)));
    const claims = await Promise.all(sent.map(({ id }) => store.claim([id], anOwner)));
    const records = claims.flat();
    await Promise.all(
      records.map((record) => store.settle([settlementOf(record, harness.clock.now())])),
    );
    await Promise.all(
      records.map(({ message: { id } }) => store.clear([{ id, attempt: 0, item: "fact" }])),
    );

    expect(records).toHaveLength(200);
    expect(calls).toBe(5);
  });

  it("lets a record that is too large fail alone", async () => {
    const { insert, messages, store } = await open();
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
    const found = await store.get(aTenant, [large.id, ...others.map(({ id }) => id)]);
    expect(found.map((record) => record !== undefined)).toEqual([false, true, true, true]);
  });

  it("settles a record that its answer would make too large, without the answer's body", async () => {
    const { claim, clock, insert, messages, store } = await open();
    const policy = aPolicy({ callback: aCallbackPlan() });
    const body = new Uint8Array(15.5 * mebibyte);
    const sent = [...messages(1, { policy, body }), ...messages(1, { policy })];
    await insert(sent);
    const records = await claim(sent.map(({ id }) => id));
    const answer = anAnswer(200, { body: new Uint8Array(mebibyte) });

    const settled = await store.settle(
      records.map((record) => settlementOf(record, clock.now(), answer)),
    );

    expect(settled.map(({ kind }) => kind)).toEqual(["ok", "ok"]);
    const found = await store.get(
      aTenant,
      sent.map(({ id }) => id),
    );
    const responses = found.map((record) => record?.outbox.find(({ kind }) => kind === "callback"));
    expect(
      responses.map((item) => [item?.response?.body.length, item?.response?.truncated]),
    ).toEqual([
      // This one has no bound for what grows by updates.
      name.startsWith("mongo-java-server") ? [mebibyte, false] : [0, true],
      [mebibyte, false],
    ]);
  });

  it("gives who got into line an alarm of his own, which rings the lane when nobody was told", async () => {
    const { clock, connection, insert, messages, store } = await open();
    const [message] = messages(1, { flow: oneAtATime });
    if (!message) throw new Error("unreachable");
    await insert([message]);
    // As when the publisher died between the two writes.
    await connection.collection("lanes").deleteMany({});
    await clock.advance(limits.ringAheadMs);

    const { lanes } = await store.ring(allShards, 100);

    expect(lanes).toEqual([tightLane]);
    expect(await store.lanes([tightLane])).toMatchObject([{ limits: oneAtATime.limits }]);
    expect(await store.heads(tightLane, 10)).toMatchObject([{ id: message.id }]);
    expect((await store.get(aTenant, [message.id]))[0]?.wakeAt).toBeUndefined();
  });

  it("reads the heads of many lines, short ones and those that are longer than a page", async () => {
    const { insert, messages, store } = await open();
    const counts = [3, 1_100, 2, 0, 5, ...Array.from({ length: 20 }, () => 1), 300];
    const lines = counts.map((count, n) =>
      messages(count, { flow: { ...oneAtATime, key: `lane-${n}` } }),
    );
    await insert(lines.flat());

    const heads = await Promise.all(
      counts.map((_, n) => store.heads(flowLaneId(aTenant, `lane-${n}`), 4)),
    );

    expect(heads.map((line) => line.map(({ id }) => id))).toEqual(
      lines.map((line) => line.slice(0, 4).map(({ id }) => id)),
    );
  });

  it("does not let parents whose children wait stand before what can go", async () => {
    const harness = await open();
    const { clock, store } = harness;
    const [parent] = await insertParent(harness);
    const [done] = harness.messages(1);
    if (!parent || !done) throw new Error("unreachable");
    await clock.advance(1_000);
    await finish(harness, done);
    await clock.advance(1_000);

    expect(await store.removeFinished(allShards, clock.now(), 1)).toBe(1);
    expect(await store.get(aTenant, [done.id])).toEqual([undefined]);
    expect((await store.get(aTenant, [parent.id]))[0]?.state.kind).toBe("expanded");
  });

  it("forgets a derived id when its tombstone's day is over", async () => {
    const harness = await open();
    const { clock, ids, store } = harness;
    const message = aMessage({ id: callbackId(ids.next(), 0), now: clock.now() });
    await finish(harness, message);
    await clock.advance(1_000);
    await store.removeFinished(allShards, clock.now(), 10);
    expect(await harness.insert([message])).toEqual(["known"]);
    await clock.advance(limits.tombstoneMs);

    await store.removeFinished(allShards, clock.now(), 10);

    expect(await harness.insert([message])).toEqual(["inserted"]);
  });

  it("removes a lane that is long unused, unless somebody will yet get into its line", async () => {
    const harness = await open();
    const { clock, insert, messages, store } = harness;
    const unused = { ...oneAtATime, key: "unused" };
    const awaited = { ...oneAtATime, key: "awaited" };
    const [going] = messages(1, { flow: unused, delayMs: 1_000 });
    if (!going) throw new Error("unreachable");
    await insert([going, ...messages(1, { flow: awaited, delayMs: 30 * 86_400_000 })]);
    await store.cancel(aTenant, [going.id]);
    await store.clear([{ id: going.id, attempt: 0, item: "fact" }]);
    await clock.advance(limits.flowPeriodMsMax + 1_000);
    await store.removeFinished(allShards, clock.now(), 10);

    await store.removeFinished(allShards, clock.now(), 10);

    const left = await store.lanes([unused, awaited].map(({ key }) => flowLaneId(aTenant, key)));
    expect(left.map(({ key }) => key)).toEqual(["awaited"]);
  });

  it("leaves out a record whose body is gone, and says so", async () => {
    const harness = await open();
    const [parent, child] = await insertParent(harness);
    if (!parent || !child) throw new Error("unreachable");
    await harness.connection.collection<{ _id: string }>("messages").deleteOne({ _id: parent.id });

    expect(await harness.claim([child.id])).toEqual([]);
    expect(await harness.store.get(aTenant, [child.id])).toEqual([undefined]);
    const said = harness.log.lines.filter(({ event }) => event === "documents.body_missing");
    expect(said.map(({ fields }) => fields)).toEqual([
      { messageId: child.id },
      { messageId: child.id },
    ]);
  });
});

/** An expanded parent with one child that is due. */
async function insertParent(harness: Harness) {
  const fanOut = { group: "group", chunks: [], endpointCount: 1, skipped: [] };
  const [parent] = harness.messages(1, { url: "", fanOut });
  if (!parent) throw new Error("unreachable");
  await harness.insert([parent]);
  const child = childMessage(parent, anEndpoint(0), 0);
  await harness.insert([child]);
  await harness.store.expanded(parent.id, 0, 1, true);
  return [parent, child] as const;
}

async function finish(
  { store, clock }: Harness,
  message: ReturnType<typeof aMessage>,
): Promise<void> {
  await store.insert([{ record: accept(message, clock.now()) }]);
  const [record] = await store.claim([message.id], anOwner);
  if (!record) throw new Error(`${message.id} could not be claimed`);
  await store.settle([settlementOf(record, clock.now())]);
  await store.clear([{ id: message.id, attempt: 0, item: "fact" }]);
}
