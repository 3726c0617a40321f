import { expect } from "@jest/globals";
import {
  accept,
  acceptClaimed,
  callbackId,
  childId,
  limits,
  type Message,
  shardOf,
  sizeOf,
} from "@posthaste/domain";
import {
  aCallbackPlan,
  anotherOwner,
  anotherTenant,
  anOwner,
  aPolicy,
  aTenant,
} from "../../builders/message.ts";
import { aKey } from "../../builders/command.ts";
import { dice } from "../../seeded-random.ts";
import {
  clearAll,
  delivered,
  expectAlarm,
  insert,
  insertAll,
  insertClaimed,
  insertDelivered,
  newMessage,
  oneAtATime,
  read,
  refused,
  settle,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

const mebibyte = 1024 * 1024;

export function accepting(it: StoreGuarantee): void {
  it("a record is read back as it was inserted, every field of it", async (harness) => {
    const message = everything(newMessage(harness));
    const record = accept(message, harness.now());

    const answers = await harness.records.insert([{ record }], "new");

    expect(answers).toEqual(["inserted"]);
    expect(await harness.records.get(message.tenant, [message.id])).toEqual([record]);
  });

  it("an insert of an existing id is a success and changes nothing", async (harness) => {
    const message = await insert(harness);
    await harness.records.claim([message.id], anOwner);
    const before = await read(harness, message);

    const answers = await harness.records.insert(
      [{ record: accept(message, harness.now()) }],
      "new",
    );

    expect(answers).toEqual(["known"]);
    expect(await read(harness, message)).toEqual(before);
  });

  it("an insert counts a message as CREATED once", async (harness) => {
    const messages = await insertAll(harness, [{}, {}, { tenant: anotherTenant }]);
    await harness.records.insert(
      messages.map((message) => ({ record: accept(message, harness.now()) })),
      "new",
    );

    const { messageLog, now } = harness;
    const own = await messageLog.counts(aTenant, now() - 120_000, now());
    const theirs = await messageLog.counts(anotherTenant, now() - 120_000, now());

    expect(own.map(({ counts }) => counts)).toEqual([{ CREATED: 2 }]);
    expect(theirs.map(({ counts }) => counts)).toEqual([{ CREATED: 1 }]);
  });

  it("one id twice in a batch makes one record", async (harness) => {
    const record = accept(newMessage(harness), harness.now());

    const answers = await harness.records.insert([{ record }, { record }], "new");

    expect(answers).toEqual(["inserted", "known"]);
  });

  it("results of an insert are in the order of the messages", async (harness) => {
    const known = await insert(harness);
    const records = [newMessage(harness), known, newMessage(harness)].map((message) => ({
      record: accept(message, harness.now()),
    }));

    expect(await harness.records.insert(records, "new")).toEqual(["inserted", "known", "inserted"]);
    expect(await harness.records.insert([], "new")).toEqual([]);
  });

  it("20 publishers of one id insert it once", async (harness) => {
    const { other = harness } = harness;
    const record = accept(newMessage(harness), harness.now());

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? harness : other).records.insert([{ record }], "new"),
      ),
    );

    expect(answers.flat().filter((answer) => answer === "inserted")).toHaveLength(1);
  });

  it("a derived id is inserted once, even when two workers of its cause insert it at once", async (harness) => {
    const { other = harness } = harness;
    const source = await insert(harness);
    const callback = accept(newMessage(harness, { id: callbackId(source.id, 0) }), harness.now());

    const answers = await Promise.all(
      [harness, other, harness, other].map((each) =>
        each.records.insert([{ record: callback }], "new"),
      ),
    );

    expect(answers.flat().toSorted()).toEqual(["inserted", "known", "known", "known"]);
  });

  it("an insert confirms the windows that come with it, where the store keeps them", async (harness) => {
    const { tokens, records } = harness;
    const message = newMessage(harness);
    const entry = { key: aKey("order-1"), id: message.id };
    await tokens?.claim([entry]);
    await records.insert(
      [{ record: accept(message, harness.now()), deduplication: [entry] }],
      "new",
    );

    const windows = await tokens?.claim([{ ...entry, id: harness.ids.next() }]);

    if (tokens) expect(windows).toEqual([{ kind: "done", id: message.id }]);
  });

  it("an insert leaves a window of another id unchanged", async (harness) => {
    const { tokens, records } = harness;
    const [first, second] = [newMessage(harness), newMessage(harness)];
    for (const message of [first, second]) {
      const deduplication = [{ key: aKey("order-1"), id: message.id }];
      await records.insert([{ record: accept(message, harness.now()), deduplication }], "new");
    }

    const windows = await tokens?.claim([{ key: aKey("order-1"), id: harness.ids.next() }]);

    expect(await stateOf(harness, second)).toBe("due");
    if (tokens) expect(windows).toEqual([{ kind: "done", id: first.id }]);
  });

  for (const [what, body] of bodies()) {
    it(`a body survives byte for byte: ${what}`, async (harness) => {
      const message = await insert(harness, { body });

      const [claimed] = await harness.records.claim([message.id], anOwner);
      const stored = await read(harness, message);

      expect(equalBytes(claimed?.message.body, body)).toBe(true);
      expect(equalBytes(stored.message.body, body)).toBe(true);
    });
  }

  it("a record has the alarm of its first state", async (harness) => {
    const from = harness.now();
    const messages = await insertAll(harness, [{}, { delayMs: 90_000 }, { flow: oneAtATime }]);

    for (const message of messages) expectAlarm(await read(harness, message), from, harness.now());
  });

  it("a record that its insert claimed is claimable by nobody until its lease has ended", async (harness) => {
    const message = newMessage(harness);
    const record = acceptClaimed(message, anOwner, harness.now());
    await harness.records.insert([{ record }], "new");

    const early = await harness.records.claim([message.id], anotherOwner);
    await harness.advance(limits.leaseMs);
    const late = await harness.records.claim([message.id], anotherOwner);

    expect(early).toEqual([]);
    expect(late.map(({ epoch, leaseLosses }) => ({ epoch, leaseLosses }))).toEqual([
      { epoch: 2, leaseLosses: limits.leaseLossParts },
    ]);
  });

  it("a record that its insert claimed is settled at epoch 1", async (harness) => {
    const message = newMessage(harness);
    const record = acceptClaimed(message, anOwner, harness.now());
    await harness.records.insert([{ record }], "new");

    expect(await settle(harness, record, delivered)).toMatchObject({ kind: "ok" });
    expect(await stateOf(harness, message)).toBe("delivered");
  });

  it("a removed derived id stays known for 24 hours, and cannot be read", async (harness) => {
    const source = await insert(harness);
    const id = callbackId(source.id, 0);
    await insertDelivered(harness, { id });
    await harness.advance(limits.finishedKeepMs);
    await harness.records.removeFinished([...Array(64).keys()], harness.now() + 1, 100);
    await harness.advance(limits.tombstoneMs - 2 * limits.finishedKeepMs);

    const again = await harness.records.insert(
      [{ record: accept(newMessage(harness, { id }), harness.now()) }],
      "new",
    );

    expect(again).toEqual(["known"]);
    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
    expect(await harness.records.claim([id], anOwner)).toEqual([]);
  });

  it("a record is read by its own tenant only", async (harness) => {
    const mine = await insert(harness);
    const theirs = await insert(harness, { tenant: anotherTenant });

    const [asMine, asTheirs] = await harness.records.get(aTenant, [mine.id, theirs.id]);

    expect(asMine?.message.id).toBe(mine.id);
    expect(asTheirs).toBeUndefined();
  });

  it("records are read in the order of the ids, with gaps for unknown ones", async (harness) => {
    const [first, second] = await insertAll(harness, [{}, {}]);
    if (!first || !second) throw new Error("unreachable");
    const ids = [second.id, harness.ids.next(), first.id, childId(first.id, 3)];

    const found = await harness.records.get(aTenant, ids);

    expect(found.map((record) => record?.message.id)).toEqual([
      second.id,
      undefined,
      first.id,
      undefined,
    ]);
    expect(await harness.records.get(aTenant, [])).toEqual([]);
  });

  it("many large records are read in several calls, each a part", async (harness) => {
    const large = new Uint8Array(limits.readBytesMax * 0.3);
    const answer = { ...refused, body: new Uint8Array(mebibyte) };
    const answered = await insertClaimed(harness, {
      policy: aPolicy({ callback: aCallbackPlan() }),
      body: new Uint8Array(large.length - mebibyte),
    });
    await settle(harness, answered, answer);
    const others = await insertAll(
      harness,
      Array.from({ length: 4 }, () => ({ body: large })),
    );
    const ids = [answered.message.id, ...others.map(({ id }) => id)];

    const first = await harness.records.getSome(aTenant, [...ids, harness.ids.next()]);
    const second = await harness.records.getSome(aTenant, first.left);

    const read = [...first.records, ...second.records];
    expect(first.records).toHaveLength(4);
    expect(read.map(({ message }) => message.id).toSorted()).toEqual(ids.toSorted());
    expect(Math.min(...read.map(sizeOf))).toBe(large.length);
    expect(second.left).toEqual([]);
  });

  it("small records are all read at once, by their own tenant only", async (harness) => {
    const mine = await insertAll(harness, [{}, {}, {}]);
    const theirs = await insert(harness, { tenant: anotherTenant });
    const ids = [...mine.map(({ id }) => id), theirs.id, harness.ids.next()];

    const { records, left } = await harness.records.getSome(aTenant, ids);

    expect(records.map(({ message }) => message.id).toSorted()).toEqual(ids.slice(0, 3).toSorted());
    expect(left).toEqual([]);
    expect(await harness.records.getSome(aTenant, [])).toEqual({ records: [], left: [] });
  });

  it("the progress of messages is read in the order of their ids, by their own tenant only", async (harness) => {
    const body = new Uint8Array(mebibyte);
    const claimed = await insertClaimed(harness, { body, policy: aPolicy({ retriesMax: 7 }) });
    await settle(harness, claimed, refused);
    const fresh = await insert(harness, { body });
    const theirs = await insert(harness, { tenant: anotherTenant });
    const ids = [fresh.id, harness.ids.next(), theirs.id, claimed.message.id];

    const [of, ...others] = await harness.records.progress(aTenant, ids);

    expect(of).toMatchObject({ state: { kind: "due" }, retried: 0 });
    expect(others).toEqual([
      undefined,
      undefined,
      { state: expect.objectContaining({ kind: "held" }) as unknown, retried: 1, retriesMax: 7 },
    ]);
    expect(await harness.records.progress(aTenant, [])).toEqual([]);
  });

  it("a finished record can be read until it is removed", async (harness) => {
    const message = await insertDelivered(harness);

    expect(await stateOf(harness, message)).toBe("delivered");
  });

  it("the backlog of a tenant is its unfinished records, after some seconds at most", async (harness) => {
    const [first] = await insertAll(harness, [{}, { delayMs: 60_000 }, { flow: oneAtATime }]);
    await insert(harness, { tenant: anotherTenant });
    if (!first) throw new Error("unreachable");
    const record = await harness.records.claim([first.id], anOwner);
    await harness.advance(backlogLagMsMax);
    const before = await harness.records.backlog(aTenant);

    for (const each of record) await settle(harness, each, delivered);
    await clearAll(harness, first);
    await harness.advance(backlogLagMsMax);

    expect(before).toBe(3);
    expect(await harness.records.backlog(aTenant)).toBe(2);
  });
}

const backlogLagMsMax = 5_000;

function bodies(): readonly (readonly [string, Uint8Array])[] {
  const mebibyte = 1024 * 1024;
  return [
    ["empty", new Uint8Array()],
    ["one NUL", Uint8Array.of(0)],
    ["0xFF", Uint8Array.of(0xff)],
    [
      "a byte order mark, a lone surrogate and half a character",
      Uint8Array.of(0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80, 0xe2, 0x82),
    ],
    ["all bytes", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
    ["1 MiB of chance", dice(1).bytes(mebibyte)],
    ["a view into a larger buffer", dice(2).bytes(64).subarray(7, 23)],
  ];
}

const equalBytes = (got: Uint8Array | undefined, expected: Uint8Array): boolean =>
  got !== undefined && Buffer.compare(got, expected) === 0;

/** Sets every optional field, and every name that a careless mapping would lose. */
function everything(message: Message): Message {
  return {
    ...message,
    dialect: "upstash",
    notBefore: message.createdAt + 60_000,
    url: "HTTP://Destination.example:8443/a//b/?q=%20&q=1#f",
    method: "PATCH",
    headers: [
      ["X-Twice", "one"],
      ["x-twice", "two"],
      ["__proto__", "polluted"],
      ["constructor", ""],
      ["$where.a", "1, 2"],
    ],
    policy: aPolicy({
      timeoutMs: 7_200_000,
      retriesMax: 1_000,
      retryDelay: "pow(2, retried) * 1000",
      callback: {
        url: "https://callback.example/",
        method: "PUT",
        headers: [["X-Callback", "yes"]],
        delayMs: 1_000,
        timeoutMs: 2_000,
        retriesMax: 0,
        retryDelay: "1",
        labels: ["a", "b"],
        flow: oneAtATime,
      },
      failureCallback: aCallbackPlan(),
      redaction: { body: true, headers: ["authorization"] },
      labels: ["$label", "a.b"],
      flow: { key: "tight", limits: { parallelism: 3, rate: 5, periodMs: 60_000 } },
    }),
    origin: {
      callerIp: "2001:db8::1",
      group: { name: "group", endpointName: "endpoint" },
      scheduleId: "scd_1",
      queueName: "queue",
      callbackOf: message.id,
      hop: 7,
    },
    flow: tightLane,
    shard: shardOf(tightLane),
  };
}
