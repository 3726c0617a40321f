/** What several processes do to the same records at the same time: conditional writes decide, one for each record. */
import { describe, expect, it, jest } from "@jest/globals";
import { flowLaneId, limits, type MessageId } from "@posthaste/domain";
import { aTenant } from "@posthaste/testing";
import { longEnoughMs, openStores, settlementOf } from "./harness.fixture.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const processes = 8;
const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);
const sorted = (ids: readonly MessageId[]): readonly MessageId[] => ids.toSorted();

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it("of eight processes that claim the same records each record goes to exactly one, round after round", async () => {
    const { another, claim, clock, insert, messages } = await open();
    const stores = Array.from({ length: processes }, another);
    const sent = messages(40);
    await insert(sent);
    const ids = sent.map(({ id }) => id);

    for (let round = 1; round <= 5; round++) {
      const claimed = (await Promise.all(stores.map((store) => claim(ids, store)))).flat();

      expect(sorted(claimed.map(({ message }) => message.id))).toEqual(sorted(ids));
      expect(new Set(claimed.map(({ epoch }) => epoch))).toEqual(new Set([round]));
      expect(new Set(claimed.map(({ leaseLosses }) => leaseLosses))).toEqual(new Set([round - 1]));
      await clock.advance(longEnoughMs);
    }
  });

  it("of a settle and seven cancellations of each of many records exactly one holds, and knows it", async () => {
    const { another, claim, clock, insert, messages, store } = await open();
    const sent = messages(20);
    await insert(sent);
    const ids = sent.map(({ id }) => id);
    const records = await claim(ids);
    const settlements = records.map((record) => settlementOf(record, clock.now()));
    const cancelers = Array.from({ length: processes - 1 }, another);

    const [settled, ...canceled] = await Promise.all([
      store.settle(settlements),
      ...cancelers.map((each) => each.cancel(aTenant, ids)),
    ]);

    for (const [n, { message }] of settlements.entries()) {
      const [standing] = await store.get(aTenant, [message.id]);
      const cancellations = canceled
        .flat()
        .filter((each) => each.kind === "canceled" && each.message.id === message.id);
      expect([settled[n]?.kind, cancellations.length, standing?.state.kind]).toEqual(
        standing?.state.kind === "delivered" ? ["ok", 0, "delivered"] : ["fenced", 1, "canceled"],
      );
    }
  });

  it("of eight granters that promote the same records each record is promoted by exactly one", async () => {
    const { another, clock, insert, messages } = await open();
    const sent = messages(30, { flow: oneAtATime });
    await insert(sent);
    const ids = sent.map(({ id }) => id);
    const grantUntil = clock.now() + limits.grantMs;

    const promoted = await Promise.all(
      Array.from({ length: processes }, () => another().promote(tightLane, ids, grantUntil)),
    );

    expect(sorted(promoted.flat())).toEqual(sorted(ids));
  });

  it("what was acknowledged stands in line before what was published after that, whoever published", async () => {
    const { another, insert, messages, store } = await open();
    const stores = Array.from({ length: processes }, another);
    const sentBy = stores.map(() => messages(6, { flow: oneAtATime }));
    const acknowledged: MessageId[] = [];
    const before = new Map<MessageId, readonly MessageId[]>();

    await Promise.all(
      stores.map(async (each, n) => {
        for (const message of sentBy[n] ?? []) {
          before.set(message.id, [...acknowledged]);
          expect(await insert([message], each)).toEqual(["inserted"]);
          acknowledged.push(message.id);
        }
      }),
    );

    const line = (await store.heads(tightLane, 100)).map(({ id }) => id);
    expect(line).toHaveLength(processes * 6);
    for (const [id, earlier] of before)
      for (const other of earlier) expect(line.indexOf(other)).toBeLessThan(line.indexOf(id));
  });

  it("a lane that many publish to for the first time at once comes to exist once, with its alarm set", async () => {
    const { another, clock, insert, messages, store } = await open();

    await Promise.all(
      Array.from({ length: processes }, () => insert(messages(3, { flow: oneAtATime }), another())),
    );

    const [lane] = await store.lanes([tightLane]);
    expect(lane).toMatchObject({ seq: processes * 3, limits: oneAtATime.limits });
    expect(lane?.wakeAt).toBe(clock.now());
    expect(await store.heads(tightLane, 100)).toHaveLength(processes * 3);
  });
});
