import { expect } from "@jest/globals";
import {
  accept,
  allShards,
  callbackId,
  type FollowUp,
  type LogFilter,
  matchesLogged,
  type Message,
  shardOf,
} from "@posthaste/domain";
import { aCallbackPlan, aPolicy, aTenant } from "../../builders/message.ts";
import { readAll } from "../paging.ts";
import {
  claimOne,
  delivered,
  insert,
  insertAll,
  insertClaimed,
  insertDelivered,
  newMessage,
  oneAtATime,
  read,
  refused,
  type RecordsHarness,
  settle,
  type StoreGuarantee,
} from "./harness.ts";

const logOf = async (harness: RecordsHarness, messages: readonly Message[]) => {
  const messageIds = messages.map(({ id }) => id);
  const page = { limit: 100, order: "earliestFirst" } as const;
  return (await harness.messageLog.list(aTenant, { messageIds }, page)).items;
};

const clearAll = (
  { records }: RecordsHarness,
  { id }: Message,
  left: readonly FollowUp[],
): Promise<void> => records.clear(left.map(({ attempt, kind: item }) => ({ id, attempt, item })));

export function removing(it: StoreGuarantee): void {
  it("a message that ended before the given time is removed, and cannot be read", async (harness) => {
    const { id } = await insertDelivered(harness);
    await harness.advance(1_000);

    expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(1);
    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
    expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(0);
  });

  for (const written of [true, false]) {
    it(`the log has a delivery once when its record is removed, ${written ? "written" : "not written"} by its settler`, async (harness) => {
      const records = await Promise.all([1, 2, 3].map(() => insertClaimed(harness)));
      const settled = await Promise.all(
        records.map((record) => settle(harness, record, delivered)),
      );
      for (const [n, { message }] of records.entries()) {
        const answer = settled[n];
        if (answer?.kind !== "ok") throw new Error("it was claimed");
        const fact = answer.owed ?? answer.left.find((item) => item.kind === "fact");
        if (fact && (written || !answer.owed)) await harness.messageLog.append([{ message, fact }]);
        await clearAll(harness, message, answer.left);
      }
      await harness.advance(1_000);

      expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(3);

      const messages = records.map(({ message }) => message);
      const items = await logOf(harness, messages);
      const told = items.map(({ event, message }) => `${message.id} ${event.state}`);
      const answers = items.flatMap(({ event }) => event.answered ?? []);
      if (written || settled.every((each) => each.kind === "ok" && !each.owed))
        expect(answers).toEqual(records.map(() => ({ status: 200, bytes: 4 })));
      const states = ["CREATED", "ACTIVE", "DELIVERED"];
      expect(told.toSorted()).toEqual(
        messages.flatMap(({ id }) => states.map((state) => `${id} ${state}`)).toSorted(),
      );
    });
  }

  for (const written of [true, false]) {
    it(`the log has a cancellation once when its record is removed, ${written ? "written" : "not written"} by its canceller`, async (harness) => {
      const messages = await insertAll(harness, [{}, { delayMs: 60_000 }, { flow: oneAtATime }]);
      const ids = messages.map(({ id }) => id);
      for (const answer of await harness.records.cancel(aTenant, ids)) {
        if (answer.kind !== "canceled") throw new Error("it was live");
        const { message, left, owed } = answer;
        const fact = owed ?? left.find((item) => item.kind === "fact");
        if (fact && (written || !owed)) await harness.messageLog.append([{ message, fact }]);
        await clearAll(harness, message, left);
      }
      await harness.advance(1_000);

      expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(3);

      const items = await logOf(harness, messages);
      const told = items.map(({ event, message }) => `${message.id} ${event.state}`);
      const states = ["CREATED", "CANCEL_REQUESTED", "CANCELED"];
      expect(told.toSorted()).toEqual(
        ids.flatMap((id) => states.map((state) => `${id} ${state}`)).toSorted(),
      );
    });
  }

  it("the log's retention removes no existing record, and leaves nothing of a removed one", async (harness) => {
    const body = new TextEncoder().encode("kept");
    const message = await insertDelivered(harness, { body });
    await harness.advance(1_000);

    await harness.messageLog.sweep(aTenant, harness.now(), 100);
    expect((await read(harness, message)).message).toEqual(message);

    expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(1);
    await harness.messageLog.sweep(aTenant, harness.now(), 100);
    expect(await logOf(harness, [message])).toEqual([]);
  });

  for (const order of ["earliestFirst", "latestFirst"] as const)
    it(`the log has deliveries in one order, whoever wrote them: ${order}`, async (harness) => {
      const { messageLog, records } = harness;
      for (let turn = 0; turn < 12; turn++) {
        const policy = aPolicy(turn % 3 === 0 ? { labels: ["rare"] } : {});
        const record = await insertClaimed(harness, { policy });
        if (turn % 2 > 0) await harness.advance(30);
        const { message } = record;
        const answer = await settle(harness, record, turn % 4 === 1 ? refused : delivered);
        if (answer.kind !== "ok") throw new Error("it was claimed");
        const fact = answer.owed ?? answer.left.find((item) => item.kind === "fact");
        if (fact) await messageLog.append([{ message, fact }]);
        await clearAll(harness, message, answer.left);
        if (turn === 6) await records.removeFinished(allShards, harness.now(), 100);
      }
      const pages = (limit: number, filter: LogFilter = {}) =>
        readAll((page) => messageLog.list(aTenant, filter, page), limit, order);

      const whole = await pages(100);

      const inOrder = whole.map(({ event }) => event.at);
      const sorted = inOrder.toSorted((a, b) => a - b);
      expect(inOrder).toEqual(order === "latestFirst" ? sorted.toReversed() : sorted);
      expect(new Set(whole.map(({ message }) => message.id)).size).toBe(12);
      for (const limit of [1, 2, 5, 9]) expect(await pages(limit)).toEqual(whole);
      const [first, last] = [sorted.at(4), sorted.at(-4)];
      const filters: readonly LogFilter[] = [
        { states: ["DELIVERED", "ERROR"] },
        { states: ["RETRY"] },
        { labels: ["rare"] },
        { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) },
      ];
      for (const filter of filters) {
        const right = whole.filter(({ event, message }) => matchesLogged(filter, event, message));
        expect([filter, await pages(3, filter)]).toEqual([filter, right]);
      }
    });

  it("a message that ended later stays", async (harness) => {
    const message = await insertDelivered(harness);

    expect(await harness.records.removeFinished(allShards, harness.now() - 1_000, 100)).toBe(0);
    expect(await read(harness, message)).toMatchObject({ state: { kind: "delivered" } });
  });

  it("a message with unsafe follow-ups stays, however old", async (harness) => {
    const callback = aCallbackPlan();
    const record = await insertClaimed(harness, { policy: aPolicy({ callback }) });
    await settle(harness, record, delivered);
    await harness.advance(1_000);

    expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(0);
    expect((await read(harness, record.message)).outbox).not.toEqual([]);
  });

  it("a message that has not ended stays", async (harness) => {
    const messages = await insertAll(harness, [{}, { delayMs: 500 }, { flow: oneAtATime }]);
    const { message } = await insertClaimed(harness);
    await harness.advance(1_000);

    expect(await harness.records.removeFinished(allShards, harness.now(), 100)).toBe(0);
    for (const each of [...messages, message]) await read(harness, each);
  });

  it("a sweep removes no more than its limit, and later sweeps the rest", async (harness) => {
    for (let i = 0; i < 5; i++) await insertDelivered(harness);
    await harness.advance(1_000);

    const removed = [
      await harness.records.removeFinished(allShards, harness.now(), 3),
      await harness.records.removeFinished(allShards, harness.now(), 3),
    ];

    expect(removed).toEqual([3, 2]);
  });

  it("only the given shards are swept", async (harness) => {
    const message = await insertDelivered(harness);
    await harness.advance(1_000);
    const others = allShards.filter((shard) => shard !== shardOf(message.id));

    expect(await harness.records.removeFinished(others, harness.now(), 100)).toBe(0);
    expect(await harness.records.removeFinished([message.shard], harness.now(), 100)).toBe(1);
  });

  it("a removed record with a derived id leaves a tombstone, since its cause may be worked again", async (harness) => {
    const source = await insert(harness);
    const id = callbackId(source.id, 0);
    await insertDelivered(harness, { id });
    await harness.advance(1_000);
    await harness.records.removeFinished(allShards, harness.now(), 100);

    const again = await harness.records.insert(
      [{ record: accept(newMessage(harness, { id }), harness.now()) }],
      "new",
    );

    expect(again).toEqual(["known"]);
    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
    expect(await harness.records.cancel(aTenant, [id])).toEqual([{ kind: "unknown" }]);
    expect(await harness.records.pull(aTenant, 10, [])).toMatchObject([{ id: source.id }]);
  });

  it("a settle, a renewal and a clear of a removed message change nothing", async (harness) => {
    const { id } = await insert(harness);
    const record = await claimOne(harness, id);
    await settle(harness, record, delivered);
    await harness.records.clear([{ id, attempt: 0, item: "fact" }]);
    await harness.advance(1_000);
    await harness.records.removeFinished(allShards, harness.now(), 100);

    expect(await settle(harness, record, delivered)).toEqual({ kind: "fenced" });
    expect(await harness.records.renew([{ id, epoch: record.epoch }])).toEqual([id]);
    await harness.records.clear([{ id, attempt: 0, item: "fact" }]);
    expect(await harness.records.get(aTenant, [id])).toEqual([undefined]);
  });
}
