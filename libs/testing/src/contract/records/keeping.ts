import { expect } from "@jest/globals";
import {
  accept,
  allShards,
  callbackId,
  type InState,
  limits,
  type Message,
} from "@posthaste/domain";
import { anotherTenant, aPolicy, aTenant, type MessageOverrides } from "../../builders/message.ts";
import { anAnswer } from "../../builders/outcome.ts";
import { dice } from "../../seeded-random.ts";
import {
  claimOne,
  clearAll,
  delivered,
  insert,
  insertClaimed,
  insertDelivered,
  newMessage,
  oneAtATime,
  read,
  type RecordsHarness,
  refused,
  settle,
  settlementOf,
  type StoreGuarantee,
} from "./harness.ts";

async function remove(harness: RecordsHarness, keeps?: (tenant: string) => boolean): Promise<void> {
  await harness.advance(1_000);
  await harness.records.removeFinished(allShards, harness.now(), 100, keeps);
}

const keptOf = async ({ keptBodies }: RecordsHarness, { id, tenant }: Message) => {
  const kept = await keptBodies.get(tenant, id);
  return kept && Buffer.from(kept);
};

const answerOf = async ({ keptBodies }: RecordsHarness, { id, tenant }: Message) => {
  const answer = await keptBodies.answer(tenant, id);
  return answer && Buffer.from(answer).toString();
};

async function insertAnswered(
  harness: RecordsHarness,
  overrides: MessageOverrides,
  body: string | Uint8Array,
): Promise<Message> {
  const record = await insertClaimed(harness, overrides);
  await settle(harness, record, anAnswer(200, { body }));
  await clearAll(harness, record.message);
  return record.message;
}

async function insertCanceled(harness: RecordsHarness, overrides: MessageOverrides) {
  const message = await insert(harness, { ...overrides, delayMs: 60_000 });
  await harness.records.cancel(message.tenant, [message.id]);
  await clearAll(harness, message);
  return message;
}

async function insertDeliveredLate(harness: RecordsHarness, overrides: MessageOverrides) {
  const { message } = await refuseOnce(harness, overrides);
  await harness.advance(10_001);
  await harness.alarms.ring(allShards, 100);
  await settle(harness, await claimOne(harness, message.id), delivered);
  await clearAll(harness, message);
  return message;
}

async function refuseOnce(harness: RecordsHarness, overrides: MessageOverrides) {
  const record = await insertClaimed(harness, overrides);
  await settle(harness, record, refused);
  await clearAll(harness, record.message);
  return record;
}

const heavy = dice(3).bytes(limits.namedBodyBytesMax + 1);
const hidden = (redaction: { readonly body: boolean; readonly headers: readonly string[] }) => ({
  policy: aPolicy({ redaction }),
});
const ended: readonly (readonly [string, (harness: RecordsHarness) => Promise<Message>])[] = [
  ["delivered at once", (harness) => insertDelivered(harness)],
  ["delivered by a retry", (harness) => insertDeliveredLate(harness, {})],
  ["delivered for a flow key", (harness) => insertDelivered(harness, { flow: oneAtATime })],
  ["delivered with a heavy body", (harness) => insertDelivered(harness, { body: heavy })],
  ["cancelled", (harness) => insertCanceled(harness, {})],
  [
    "delivered with redacted headers",
    (harness) => insertDelivered(harness, hidden({ body: false, headers: ["x-card"] })),
  ],
];

export function keeping(it: StoreGuarantee): void {
  for (const [how, arrange] of ended)
    it(`the body of a message that was ${how} is kept after its record, until it is swept`, async (harness) => {
      const message = await arrange(harness);
      await remove(harness);
      const { id } = message;

      expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
      expect(await keptOf(harness, message)).toEqual(Buffer.from(message.body));
      expect(await harness.keptBodies.get(anotherTenant, id)).toBeUndefined();
      expect(await harness.keptBodies.sweep(aTenant, harness.now(), 100)).toBeGreaterThan(0);
      expect(await keptOf(harness, message)).toBeUndefined();
      expect(await harness.keptBodies.sweep(aTenant, harness.now(), 100)).toBe(0);
    });

  it("no body is kept of a redacted, empty or failed message, or where the plan keeps none", async (harness) => {
    const failed = await insertClaimed(harness, { policy: aPolicy({ retriesMax: 0 }) });
    await settle(harness, failed, refused);
    await clearAll(harness, failed.message);
    const messages = [
      failed.message,
      await insertDelivered(harness, hidden({ body: true, headers: [] })),
      await insertDeliveredLate(harness, hidden({ body: true, headers: [] })),
      await insertDelivered(harness, { body: new Uint8Array() }),
    ];
    await remove(harness);
    const forgotten = [
      await insertDelivered(harness),
      await insertDelivered(harness, { flow: oneAtATime }),
      await insertDelivered(harness, { body: heavy }),
    ];
    const kept = await insertDelivered(harness, { tenant: anotherTenant });
    await remove(harness, (tenant) => tenant !== aTenant);

    for (const message of [...messages, ...forgotten])
      expect(await keptOf(harness, message)).toBeUndefined();
    expect(await keptOf(harness, kept)).toEqual(Buffer.from(kept.body));
  });

  for (const [how, arrange] of ended.filter(([name]) => name.startsWith("delivered")))
    it(`the answer to a message that was ${how} is kept from its settle on, until it is swept`, async (harness) => {
      const message = await arrange(harness);

      expect(await answerOf(harness, message)).toBe("fine");
      expect(await harness.keptBodies.answer(anotherTenant, message.id)).toBeUndefined();
      await remove(harness);
      expect(await answerOf(harness, message)).toBe("fine");
      await harness.keptBodies.sweep(aTenant, harness.now(), 100);
      expect(await answerOf(harness, message)).toBeUndefined();
    });

  it("answers of one batch are kept with their own messages, even if no message has a body", async (harness) => {
    const records: InState<"claimed">[] = [];
    for (let n = 0; n < 3; n++)
      records.push(await insertClaimed(harness, { body: new Uint8Array() }));
    records.push(await insertClaimed(harness, { body: new Uint8Array(), flow: oneAtATime }));
    const settlements = records.map((record, n) =>
      settlementOf(harness, record, anAnswer(200, { body: n === 1 ? "" : `answer ${n}` })),
    );
    await harness.records.settle(settlements.toReversed());
    for (const { message } of records) await clearAll(harness, message);
    const read = () => Promise.all(records.map(({ message }) => answerOf(harness, message)));

    expect(await read()).toEqual(["answer 0", undefined, "answer 2", "answer 3"]);
    await remove(harness);
    expect(await read()).toEqual(["answer 0", undefined, "answer 2", "answer 3"]);
    await harness.keptBodies.sweep(aTenant, harness.now(), 100);
    expect(await read()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("no answer is kept that is empty, or of a redacted or failed message, or where the plan keeps none", async (harness) => {
    const failed = await insertClaimed(harness, { policy: aPolicy({ retriesMax: 0 }) });
    await settle(harness, failed, refused);
    const messages = [
      failed.message,
      await insertDelivered(harness, hidden({ body: true, headers: [] })),
      await insertAnswered(harness, {}, ""),
    ];
    const forgotten = [
      await insertDelivered(harness),
      await insertDelivered(harness, { flow: oneAtATime }),
      await insertDelivered(harness, { body: new Uint8Array() }),
    ];
    const kept = await insertDelivered(harness, { tenant: anotherTenant });

    for (const message of messages) expect(await answerOf(harness, message)).toBeUndefined();
    await remove(harness, (tenant) => tenant !== aTenant);
    for (const message of forgotten) expect(await answerOf(harness, message)).toBeUndefined();
    expect(await answerOf(harness, kept)).toBe("fine");
  });

  it("the beginning of a long answer is kept, up to the end of a character", async (harness) => {
    const max = limits.keptAnswerBytesMax;
    const whole = await insertAnswered(harness, {}, "a".repeat(max));
    const cut = await insertAnswered(harness, {}, `a${"ü".repeat(max / 2)}`);

    expect(await answerOf(harness, whole)).toBe("a".repeat(max));
    expect(await answerOf(harness, cut)).toBe(`a${"ü".repeat(max / 2 - 1)}`);
  });

  it("a sweep removes bodies of messages that ended before the given time, of one tenant", async (harness) => {
    const others = await insertDelivered(harness, { tenant: anotherTenant });
    const old = [
      await insertDelivered(harness),
      await insertDelivered(harness, { flow: oneAtATime }),
      await insertDelivered(harness),
    ];
    await harness.advance(10_000);
    const between = harness.now();
    await harness.advance(10_000);
    const young = [
      await insertDelivered(harness),
      await insertDelivered(harness, { flow: oneAtATime }),
    ];
    await remove(harness);

    await harness.keptBodies.sweep(aTenant, between, 100);

    for (const message of old) expect(await keptOf(harness, message)).toBeUndefined();
    for (const message of [others, ...young])
      expect(await keptOf(harness, message)).toEqual(Buffer.from(message.body));
  });

  it("a sweep ends at about its limit, and the next continues", async (harness) => {
    for (let n = 0; n < 5; n++) await insertDelivered(harness);
    await remove(harness);

    const swept = [];
    for (let n = 0; n < 6; n++)
      swept.push(await harness.keptBodies.sweep(aTenant, harness.now(), 2));

    expect(Math.max(...swept)).toBeLessThanOrEqual(2);
    expect(swept.reduce((sum, n) => sum + n, 0)).toBe(5);
  });

  it("a sweep leaves the bodies of standing records, and they are kept afterwards", async (harness) => {
    const waiting = await insert(harness, { delayMs: 60_000 });
    const { message: running } = await insertClaimed(harness);
    const { message: retried } = await refuseOnce(harness, {});
    const finished = await insertDelivered(harness);
    const gone = await insertDelivered(harness);
    await harness.advance(5_000);
    await harness.keptBodies.sweep(aTenant, harness.now(), 100);

    for (const message of [waiting, running, retried, finished])
      expect(Buffer.from((await read(harness, message)).message.body)).toEqual(
        Buffer.from(message.body),
      );
    await remove(harness);
    for (const message of [finished, gone])
      expect(await keptOf(harness, message)).toEqual(Buffer.from(message.body));
    await harness.keptBodies.sweep(aTenant, harness.now(), 100);
    for (const message of [finished, gone]) expect(await keptOf(harness, message)).toBeUndefined();
  });

  it("a derived id has its tombstone while its body is kept, and afterwards", async (harness) => {
    const id = callbackId((await insert(harness)).id, 0);
    const message = await insertDelivered(harness, { id });
    await remove(harness);
    const insertAgain = () =>
      harness.records.insert(
        [{ record: accept(newMessage(harness, { id }), harness.now()) }],
        "new",
      );

    expect(await insertAgain()).toEqual(["known"]);
    expect(await keptOf(harness, message)).toEqual(Buffer.from(message.body));
    await harness.keptBodies.sweep(aTenant, harness.now(), 100);
    expect(await keptOf(harness, message)).toBeUndefined();
    expect(await insertAgain()).toEqual(["known"]);
    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
  });

  it("the disk's share of kept bodies is returned, or 0", async ({ keptBodies }) => {
    const share = await keptBodies.diskShare();

    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThanOrEqual(1);
  });
}
