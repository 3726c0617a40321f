/** Several processes act on the same records at the same time. For each record a conditional write decides. */
import { describe, expect, it, jest } from "@jest/globals";
import {
  allShards,
  flowLaneId,
  limits,
  type MessageId,
  type MessageRecord,
} from "@posthaste/domain";
import { aCallbackPlan, anAnswer, aPolicy, aTenant, byKind } from "@posthaste/testing";
import { longEnoughMs, openStores, settlementOf } from "./harness.fixture.ts";
import { createRecordPorts } from "./record-ports.ts";
import { servers } from "../servers.fixture.ts";

jest.setTimeout(120_000);

const processes = 8;
const oneAtATime = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
const tightLane = flowLaneId(aTenant, oneAtATime.key);
const sorted = (ids: readonly MessageId[]): readonly MessageId[] => ids.toSorted();

describe.each(servers)("$name", ({ uri }) => {
  const open = openStores(uri);

  it("of eight processes that claim the same records each record goes to exactly one, round after round", async () => {
    const { another, claim, clock, insertMany } = await open();
    const stores = Array.from({ length: processes }, another);
    const { ids } = await insertMany(40);

    for (let round = 1; round <= 5; round++) {
      const claimed = (await Promise.all(stores.map((store) => claim(ids, store.records)))).flat();

      expect(sorted(claimed.map(({ message }) => message.id))).toEqual(sorted(ids));
      expect(new Set(claimed.map(({ epoch }) => epoch))).toEqual(new Set([round]));
      expect(new Set(claimed.map(({ leaseLosses }) => leaseLosses))).toEqual(
        new Set([(round - 1) * limits.leaseLossParts]),
      );
      await clock.advance(longEnoughMs);
    }
  });

  it("of a settle and seven cancellations of each of many records exactly one holds, and knows it", async () => {
    const { another, claim, clock, insertMany, records } = await open();
    const { ids } = await insertMany(20);
    const claimed = await claim(ids);
    const settlements = claimed.map((record) => settlementOf(record, clock.now()));
    const cancelers = Array.from({ length: processes - 1 }, another);

    const [settled, ...canceled] = await Promise.all([
      records.settle(settlements),
      ...cancelers.map((each) => each.records.cancel(aTenant, ids)),
    ]);

    for (const [n, { message }] of settlements.entries()) {
      const [standing] = await records.get(aTenant, [message.id]);
      const cancellations = canceled
        .flat()
        .filter((each) => each.kind === "canceled" && each.message.id === message.id);
      expect([settled[n]?.kind, cancellations.length, standing?.state.kind]).toEqual(
        standing?.state.kind === "delivered" ? ["ok", 0, "delivered"] : ["fenced", 1, "canceled"],
      );
    }
  });

  it("of eight processes that settle and renew the same records none is fenced, and none loses its lease", async () => {
    const { another, claim, clock, insertMany } = await open();
    const claimed = await claim((await insertMany(200)).ids);
    const renewals = claimed.map(({ message: { id }, epoch }) => ({ id, epoch }));
    const settlements = claimed.map((record) => settlementOf(record, clock.now()));
    await clock.advance(limits.leaseRenewMs);
    const stores = Array.from({ length: processes }, another);

    const lost = await Promise.all(stores.map(({ records }) => records.renew(renewals)));
    const settled = await Promise.all(
      stores.flatMap(({ records }, n) => [
        records.settle(n % 2 === 0 ? settlements : settlements.toReversed()),
        records.renew(n % 2 === 0 ? renewals.toReversed() : renewals).then(() => []),
      ]),
    );

    expect(lost.flat()).toEqual([]);
    expect(new Set(settled.flat().map(({ kind }) => kind))).toEqual(new Set(["ok"]));
  });

  it("a renewal that another of the same process has overtaken does not count as lost", async () => {
    const { another, claim, clock, connection, insertMany } = await open();
    const { ids } = await insertMany(1);
    const claimed = await claim(ids);
    const renewals = claimed.map(({ message: { id }, epoch }) => ({ id, epoch }));
    await clock.advance(limits.leaseRenewMs);
    let calls = 0;
    const again: typeof connection.again = async (task) => {
      if (++calls > 1) return connection.again(task);
      await clock.advance(1_000);
      await another().records.renew(renewals);
      return connection.again(task);
    };
    const overtaken = createRecordPorts(connection, { ...connection, again });

    expect(await overtaken.records.renew(renewals)).toEqual([]);
    await clock.advance(limits.leaseMs - 500);
    expect(await claim(ids)).toEqual([]);
  });

  it("a ring beside a renewal leaves the renewed lease", async () => {
    const { alarms, claim, clock, connection, insertMany, records, settle } = await open();
    const { ids } = await insertMany(1, { policy: aPolicy({ callback: aCallbackPlan() }) });
    await settle(await claim(ids), anAnswer(503));
    await clock.advance(longEnoughMs);
    await alarms.ring(allShards, 10);
    const [claimed] = await claim(ids);
    if (!claimed) throw new Error("unreachable");
    // The callback is not made yet: for its sake the record keeps its alarm while its lease is renewed.
    const renewal = [{ id: claimed.message.id, epoch: claimed.epoch }];
    await clock.advance(limits.leaseRenewMs);
    await records.renew(renewal);
    await clock.advance(limits.leaseMs - limits.leaseRenewMs);
    let calls = 0;
    const again: typeof connection.again = async (task) => {
      const answer = await connection.again(task);
      if (++calls === 1) await records.renew(renewal);
      return answer;
    };
    const watched = createRecordPorts({ ...connection, again }, connection);

    const { outboxes } = byKind(await watched.alarms.ring(allShards, 10));

    const [record] = await records.get(aTenant, ids);
    expect(outboxes).toEqual(ids);
    expect(record?.state).toMatchObject({ leaseUntil: clock.now() + limits.leaseMs });
  });

  it("of two rings at once that find the same follow-ups one works them", async () => {
    const { another, claim, clock, connection, insertMany, settle } = await open();
    const { ids } = await insertMany(3, { policy: aPolicy({ callback: aCallbackPlan() }) });
    await settle(await claim(ids));
    await clock.advance(limits.ringAheadMs);
    let calls = 0;
    let faster: readonly MessageRecord[] = [];
    const again: typeof connection.again = async (task) => {
      const answer = await connection.again(task);
      if (++calls > 1) return answer;
      await clock.advance(1);
      ({ followUps: faster } = byKind(await another().alarms.ring(allShards, 10, ["followUp"])));
      return answer;
    };
    const slower = createRecordPorts({ ...connection, again }, connection);

    const { followUps } = byKind(await slower.alarms.ring(allShards, 10, ["followUp"]));

    expect(sorted(faster.map(({ message }) => message.id))).toEqual(sorted(ids));
    expect(followUps).toEqual([]);
  });

  it("of eight granters that promote the same records each record is promoted by exactly one", async () => {
    const { another, clock, insertMany } = await open();
    const { ids } = await insertMany(30, { flow: oneAtATime });
    const grantUntil = clock.now() + limits.grantMs;

    const promoted = await Promise.all(
      Array.from({ length: processes }, () =>
        another().flowLanes.promote(tightLane, ids, grantUntil),
      ),
    );

    expect(sorted(promoted.flat())).toEqual(sorted(ids));
  });

  it("an acknowledged message is in line before messages published later, whichever gateway published", async () => {
    const { another, insert, messages, flowLanes } = await open();
    const stores = Array.from({ length: processes }, another);
    const sentBy = stores.map(() => messages(6, { flow: oneAtATime }));
    const acknowledged: MessageId[] = [];
    const before = new Map<MessageId, readonly MessageId[]>();

    await Promise.all(
      stores.map(async (each, n) => {
        for (const message of sentBy[n] ?? []) {
          before.set(message.id, [...acknowledged]);
          expect(await insert([message], each.records)).toEqual(["inserted"]);
          acknowledged.push(message.id);
        }
      }),
    );

    const line = (await flowLanes.heads(tightLane, 100)).map(({ id }) => id);
    expect(line).toHaveLength(processes * 6);
    for (const [id, earlier] of before)
      for (const other of earlier) expect(line.indexOf(other)).toBeLessThan(line.indexOf(id));
  });

  it("a lane that many publish to for the first time at once comes to exist once, with its alarm set", async () => {
    const { another, clock, insert, messages, flowLanes } = await open();

    await Promise.all(
      Array.from({ length: processes }, () =>
        insert(messages(3, { flow: oneAtATime }), another().records),
      ),
    );

    const [lane] = await flowLanes.rows([tightLane]);
    expect(lane).toMatchObject({ seq: processes, limits: oneAtATime.limits });
    expect(lane?.wakeAt).toBe(clock.now());
    expect(await flowLanes.heads(tightLane, 100)).toHaveLength(processes * 3);
  });
});
