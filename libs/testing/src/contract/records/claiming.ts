import { expect } from "@jest/globals";
import { acceptNamed, claim, limits, type MessageId } from "@posthaste/domain";
import { aCallbackPlan, anotherOwner, anOwner, aPolicy } from "../../builders/message.ts";
import {
  claimOne,
  delivered,
  expectAlarm,
  insert,
  insertAll,
  insertClaimed,
  newMessage,
  type RecordsHarness,
  oneAtATime,
  read,
  readIn,
  refused,
  ringAll,
  settle,
  type StoreGuarantee,
  tightLane,
} from "./harness.ts";

export function claiming(it: StoreGuarantee): void {
  it("of 50 racers for 20 records each record goes to exactly one", async (harness) => {
    const { other = harness } = harness;
    const messages = await insertAll(
      harness,
      Array.from({ length: 20 }, () => ({})),
    );
    const ids = messages.map(({ id }) => id);

    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? harness : other).records.claim(ids, i % 2 === 0 ? anOwner : anotherOwner),
      ),
    );

    const claimed = claims.flat().map(({ message }) => message.id);
    expect(claimed.toSorted()).toEqual(ids.toSorted());
  });

  it("a claim returns the record as it now is, with its body", async (harness) => {
    const message = await insert(harness, { body: new TextEncoder().encode("the body") });
    const before = await read(harness, message);
    const from = harness.now();

    const claimed = await claimOne(harness, message.id);

    expect(claimed).toEqual({
      ...claim(before, anOwner, claimed.state.leaseUntil - limits.leaseMs),
    });
    expect(claimed.state.leaseUntil).toBeGreaterThanOrEqual(from + limits.leaseMs);
    expect(claimed.state.leaseUntil).toBeLessThanOrEqual(harness.now() + limits.leaseMs);
    expect(await read(harness, message)).toEqual(claimed);
    expectAlarm(claimed, from, harness.now());
  });

  it("a claim passes over unknown ids, and takes a repeated id once", async (harness) => {
    const message = await insert(harness);

    const claimed = await harness.records.claim(
      [harness.ids.next(), message.id, message.id],
      anOwner,
    );

    expect(claimed.map((record) => record.message.id)).toEqual([message.id]);
    expect(await harness.records.claim([], anOwner)).toEqual([]);
  });

  const cases: readonly Case[] = [
    { what: "due", claimable: true, arrange: async (harness) => (await insert(harness)).id },
    {
      what: "held with its time ahead",
      claimable: false,
      arrange: async (harness) => (await insert(harness, { delayMs: 1_000 })).id,
    },
    {
      what: "held with its time come",
      claimable: true,
      arrange: async (harness) => {
        const { id } = await insert(harness, { delayMs: 1_000 });
        await harness.advance(1_000);
        return id;
      },
    },
    {
      what: "held with its time come, but with a lane to wait in first",
      claimable: false,
      arrange: async (harness) => {
        const { id } = await insert(harness, { delayMs: 1_000, flow: oneAtATime });
        await harness.advance(1_000);
        return id;
      },
    },
    {
      what: "waiting",
      claimable: false,
      arrange: async (harness) => (await insert(harness, { flow: oneAtATime })).id,
    },
    {
      what: "due within its grant",
      claimable: true,
      arrange: (harness) => promoted(harness, limits.grantMs),
    },
    {
      what: "due with its grant past",
      claimable: false,
      arrange: async (harness) => {
        const id = await promoted(harness, 1_000);
        await harness.advance(1_000);
        return id;
      },
    },
    {
      what: "claimed",
      claimable: false,
      arrange: async (harness) => (await insertClaimed(harness)).message.id,
    },
    {
      what: "claimed with its lease past",
      claimable: true,
      arrange: async (harness) => {
        const { message } = await insertClaimed(harness);
        await harness.advance(limits.leaseMs);
        return message.id;
      },
    },
    {
      what: "held for a retry",
      claimable: false,
      arrange: async (harness) => {
        const record = await insertClaimed(harness);
        await settle(harness, record, refused);
        return record.message.id;
      },
    },
    {
      what: "delivered",
      claimable: false,
      arrange: async (harness) => {
        const record = await insertClaimed(harness);
        await settle(harness, record, delivered);
        return record.message.id;
      },
    },
    {
      what: "canceled",
      claimable: false,
      arrange: async (harness) => {
        const { id, tenant } = await insert(harness);
        await harness.records.cancel(tenant, [id]);
        return id;
      },
    },
  ];
  for (const { what, claimable, arrange } of cases) {
    it(`a record that is ${what} ${claimable ? "can" : "cannot"} be claimed`, async (harness) => {
      const id = await arrange(harness);

      const claimed = await harness.records.claim([id], anotherOwner);

      expect(claimed.map((record) => record.message.id)).toEqual(claimable ? [id] : []);
    });
  }

  it("each claim raises the epoch by one, and a take-over counts a lost lease", async (harness) => {
    const { message } = await insertClaimed(harness);
    await harness.advance(limits.leaseMs);
    const second = await claimOne(harness, message.id, anotherOwner);
    await harness.advance(limits.leaseMs);
    const third = await claimOne(harness, message.id);

    const one = limits.leaseLossParts;
    expect([second.epoch, second.leaseLosses, second.retried]).toEqual([2, one, 0]);
    expect([third.epoch, third.leaseLosses, third.retried]).toEqual([3, 2 * one, 0]);
  });

  it("a lost claim that was renewed counts as a part of one, unless its call began after that", async (harness) => {
    const claimed = [await insertClaimed(harness), await insertClaimed(harness)];
    const refs = claimed.map(({ epoch, message: { id } }) => ({ epoch, id }));
    expect(await harness.records.renew(refs)).toEqual([]);
    const begun = refs.slice(1).map((ref) => ({ ...ref, begins: true as const }));
    expect(await harness.records.renew(begun)).toEqual([]);
    await harness.advance(limits.leaseMs);

    const losses: number[] = [];
    for (const { message } of claimed)
      losses.push((await claimOne(harness, message.id, anotherOwner)).leaseLosses);

    expect(losses).toEqual([1, limits.leaseLossParts]);
  });

  it("a claim by insert that its deliverer never received counts no lost lease", async (harness) => {
    const record = acceptNamed(newMessage(harness), anotherOwner, harness.now());
    await harness.records.insert([{ record }], "new");
    expect(await harness.records.claim([record.message.id], anOwner)).toEqual([]);
    await harness.advance(limits.namedLeaseMs);
    const rung = await ringAll(harness);
    const second = await claimOne(harness, record.message.id);
    await harness.advance(limits.leaseMs);
    const third = await claimOne(harness, record.message.id);

    expect(rung.hints.map(({ id }) => id)).toEqual([record.message.id]);
    expect([second.epoch, second.leaseLosses]).toEqual([2, 0]);
    expect([third.epoch, third.leaseLosses]).toEqual([3, limits.leaseLossParts]);
  });

  it("a claim after a retry's wait counts no lost lease and keeps the count of retries", async (harness) => {
    const first = await insertClaimed(harness);
    await settle(harness, first, refused);
    await harness.advance(10_000);

    const second = await claimOne(harness, first.message.id);

    expect([second.epoch, second.leaseLosses, second.retried]).toEqual([2, 0, 1]);
  });

  it("a renewal extends a lease from now on", async (harness) => {
    const { message, epoch } = await insertClaimed(harness);
    await harness.advance(limits.leaseRenewMs);
    const from = harness.now();

    const lost = await harness.records.renew([{ id: message.id, epoch }]);

    const renewed = await readIn(harness, message, "claimed");
    expect(lost).toEqual([]);
    expect(renewed.epoch).toBe(epoch);
    expect(renewed.state.leaseUntil).toBeGreaterThanOrEqual(from + limits.leaseMs);
    expectAlarm(renewed, from, harness.now());
  });

  it("a renewed record is claimable by nobody when its first lease would have ended", async (harness) => {
    const { message, epoch } = await insertClaimed(harness);
    await harness.advance(limits.leaseRenewMs);
    await harness.records.renew([{ id: message.id, epoch }]);
    await harness.advance(limits.leaseMs - limits.leaseRenewMs);

    expect(await harness.records.claim([message.id], anotherOwner)).toEqual([]);
  });

  it("follow-ups of an earlier attempt ring on time, however often the lease of the next is renewed", async (harness) => {
    const first = await insertClaimed(harness, {
      policy: aPolicy({ callback: aCallbackPlan() }),
    });
    await settle(harness, first, refused);
    await harness.advance(10_000);
    const { message, epoch, wakeAt = 0 } = await claimOne(harness, first.message.id);
    await harness.advance(limits.leaseRenewMs);

    expect(await harness.records.renew([{ id: message.id, epoch }])).toEqual([]);

    expect((await readIn(harness, message, "claimed")).wakeAt).toBe(wakeAt);
    await harness.advance(wakeAt - harness.now());
    expect((await ringAll(harness)).outboxes).toEqual([message.id]);
  });

  it("a lease that has ended is not renewed, even if nobody has taken over", async (harness) => {
    const { message, epoch } = await insertClaimed(harness);
    await harness.advance(limits.leaseMs);

    expect(await harness.records.renew([{ id: message.id, epoch }])).toEqual([message.id]);
    expect(await harness.records.claim([message.id], anotherOwner)).toHaveLength(1);
  });

  it("a renewal returns every lost claim, and extends the others", async (harness) => {
    const [live, stale, done, gone] = await Promise.all([
      insertClaimed(harness),
      insertClaimed(harness),
      insertClaimed(harness),
      insertClaimed(harness),
    ]);
    await settle(harness, done, delivered);
    await harness.records.cancel(gone.message.tenant, [gone.message.id]);
    const unknown = harness.ids.next();
    const claims = [
      { id: stale.message.id, epoch: stale.epoch - 1 },
      { id: live.message.id, epoch: live.epoch },
      { id: done.message.id, epoch: done.epoch },
      { id: gone.message.id, epoch: gone.epoch },
      { id: unknown, epoch: 1 },
    ];

    const lost = await harness.records.renew(claims);

    const expected = [stale.message.id, done.message.id, gone.message.id, unknown];
    expect(lost.toSorted()).toEqual(expected.toSorted());
    expect(await harness.records.renew([])).toEqual([]);
  });

  it("a ring of a lost lease leaves the record claimable, with an unchanged epoch", async (harness) => {
    const { message } = await insertClaimed(harness);
    await harness.advance(limits.leaseMs);

    const { hints } = await ringAll(harness);

    expect(hints.map(({ id, epoch }) => ({ id, epoch }))).toEqual([{ id: message.id, epoch: 1 }]);
    expect(await harness.records.claim([message.id], anotherOwner)).toHaveLength(1);
  });
}

type Case = {
  readonly what: string;
  readonly claimable: boolean;
  readonly arrange: (harness: RecordsHarness) => Promise<MessageId>;
};

async function promoted(harness: RecordsHarness, grantMs: number): Promise<MessageId> {
  const { id } = await insert(harness, { flow: oneAtATime });
  await harness.flowLanes.promote(tightLane, [id], harness.now() + grantMs);
  return id;
}
