import { expect } from "@jest/globals";
import {
  acceptClaimed,
  acceptGranted,
  allShards,
  callbackId,
  childId,
  type FlowId,
  type FlowLane,
  flowLaneId,
  type FlowLimits,
  giveBack,
  limits,
  type Message,
  originHash,
  shardOf,
} from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { aCallbackPlan, anotherTenant, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  claimOne,
  clearAll,
  delivered,
  inLine,
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
  stateOf,
  tightLane,
} from "./harness.ts";

export function lanes(it: StoreGuarantee): void {
  it("an insert makes its lane, with its limits and an alarm for now", async (harness) => {
    const message = await insert(harness, { flow: oneAtATime });

    const lane = await laneOf(harness, tightLane);

    expect(lane).toMatchObject({
      id: tightLane,
      tenant: aTenant,
      key: oneAtATime.key,
      shard: message.shard,
      limits: oneAtATime.limits,
    });
    expect(lane.window).toBeUndefined();
    expect(lane.wakeAt).toBeLessThanOrEqual(harness.now());
  });

  it("a lane that was never made is not found", async (harness) => {
    await insert(harness, { flow: oneAtATime });

    const found = await harness.flowLanes.rows([flowLaneId(aTenant, "unheard-of"), tightLane]);

    expect(found.map(({ id }) => id)).toEqual([tightLane]);
    expect(await inLine(harness, flowLaneId(aTenant, "unheard-of"))).toEqual([]);
    expect(await harness.flowLanes.rows([])).toEqual([]);
  });

  it("two tenants with the same key have two lanes", async (harness) => {
    const mine = await insert(harness, { flow: oneAtATime });
    const theirs = await insert(harness, { flow: oneAtATime, tenant: anotherTenant });

    expect(await inLine(harness)).toEqual([mine.id]);
    expect(await inLine(harness, flowLaneId(anotherTenant, oneAtATime.key))).toEqual([theirs.id]);
  });

  it("the limits of the last publish apply, even of a delayed one", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const wider = { rate: 7, periodMs: 60_000 };
    await insert(harness, {
      flow: { key: oneAtATime.key, limits: { parallelism: 5, periodMs: 1_000 } },
    });
    await insert(harness, { flow: { key: oneAtATime.key, limits: wider }, delayMs: 60_000 });

    expect((await laneOf(harness, tightLane)).limits).toEqual(wider);
  });

  it("a callback or a child of an older publish restores no old limits", async (harness) => {
    const older = harness.ids.next();
    const newer: FlowLimits = { parallelism: 7, periodMs: 1_000 };
    await insert(harness, { flow: { key: oneAtATime.key, limits: newer } });

    await insert(harness, { id: callbackId(older, 0), flow: oneAtATime });
    await insert(harness, { id: childId(older, 0), flow: oneAtATime });

    expect((await laneOf(harness, tightLane)).limits).toEqual(newer);
  });

  it("a callback sets its limits when its lane does not exist", async (harness) => {
    await insert(harness, { id: callbackId(harness.ids.next(), 0), flow: oneAtATime });

    expect((await laneOf(harness, tightLane)).limits).toEqual(oneAtATime.limits);
    expect(await inLine(harness)).toHaveLength(1);
  });

  it("a publish sets the limits of its consequences: a group's children and its callbacks", async (harness) => {
    const newer: FlowLimits = { rate: 9, periodMs: 5_000 };
    const lanesOf = async (): Promise<readonly unknown[]> =>
      (await harness.flowLanes.rows([tightLane, flowLaneId(aTenant, "called")])).map((row) => [
        row.key,
        row.limits,
        row.shard,
      ]);
    await insert(harness, { flow: oneAtATime });
    await insert(harness, { flow: { key: "called", limits: oneAtATime.limits } });

    await insert(harness, { flow: { key: oneAtATime.key, limits: newer } });
    await insert(harness, {
      policy: aPolicy({ callback: aCallbackPlan({ flow: { key: "called", limits: newer } }) }),
    });

    expect(await lanesOf()).toEqual([
      [oneAtATime.key, newer, shardOf(tightLane)],
      ["called", newer, shardOf(flowLaneId(aTenant, "called"))],
    ]);
  });

  it("changed limits wake the waiting messages, whatever changes them", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const { seq } = await laneOf(harness, tightLane);
    await harness.flowLanes.rest(tightLane, seq, harness.now() + 600_000, undefined);

    await insert(harness, {
      flow: { key: oneAtATime.key, limits: { parallelism: 5, periodMs: 1_000 } },
      delayMs: 600_000,
    });

    expect((await laneOf(harness, tightLane)).wakeAt).toBeLessThanOrEqual(harness.now());
  });

  it("messages are in line in the order of their inserts, also within one batch", async (harness) => {
    const first = await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime }]);
    const then = await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime }]);

    const line = [...first, ...then].map(({ id }) => id);
    expect(await inLine(harness)).toEqual(line);
    expect(await inLine(harness, tightLane, 3)).toEqual(line.slice(0, 3));
  });

  it("a message that waits again, after a retry or an unused grant, has its old place", async (harness) => {
    const [first, second, third] = await insertAll(harness, [
      { flow: oneAtATime },
      { flow: oneAtATime },
      { flow: oneAtATime },
    ]);
    if (!first || !second || !third) throw new Error("unreachable");
    await harness.flowLanes.promote(
      tightLane,
      [first.id, second.id],
      harness.now() + limits.grantMs,
    );
    await settle(harness, await claimOne(harness, first.id), refused);
    await harness.advance(limits.grantMs);
    await ringAll(harness);

    expect(await inLine(harness)).toEqual([first.id, second.id, third.id]);
  });

  it("messages in line are returned in the form of hints", async (harness) => {
    const first = await insertClaimed(harness, { flow: oneAtATime });
    const second = await insert(harness, { flow: oneAtATime });
    await settle(harness, first, { kind: "aborted" });

    const heads = await harness.flowLanes.heads(tightLane, 10);

    const expected = (message: Message, epoch: number): Hint => ({
      id: message.id,
      tenant: message.tenant,
      origin: originHash(message.url),
      epoch,
      bytes: message.body.length,
    });
    expect(heads).toEqual([expected(first.message, 1), expected(second, 0)]);
  });

  it("a promotion makes waiting messages due until their grants end, and returns them", async (harness) => {
    const [first, second, third] = await insertAll(harness, [
      { flow: oneAtATime },
      { flow: oneAtATime },
      { flow: oneAtATime },
    ]);
    if (!first || !second || !third) throw new Error("unreachable");
    const grantUntil = harness.now() + limits.grantMs;
    await harness.records.cancel(aTenant, [second.id]);

    const answer = await harness.flowLanes.promote(
      tightLane,
      [first.id, second.id, harness.ids.next()],
      grantUntil,
    );

    const promoted = await readIn(harness, first, "due");
    expect(answer).toEqual([first.id]);
    expect(promoted.state).toEqual({ kind: "due", hints: 0, grantUntil });
    expect(promoted.wakeAt).toBeLessThanOrEqual(grantUntil);
    expect(await inLine(harness)).toEqual([third.id]);
  });

  it("a promotion keeps the rate window that it was granted in, whatever joins the line", async (harness) => {
    const [first] = await insertAll(harness, [{ flow: oneAtATime }]);
    if (!first) throw new Error("unreachable");
    const window = { startedAt: harness.now(), count: 1 };

    await harness.flowLanes.promote(tightLane, [first.id], harness.now() + limits.grantMs, window);
    await insert(harness, { flow: oneAtATime });

    expect((await laneOf(harness, tightLane)).window).toEqual(window);
  });

  it("ten promotions of one message at once promote it once", async (harness) => {
    const { other = harness } = harness;
    const { id } = await insert(harness, { flow: oneAtATime });

    const promoted = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? harness : other).flowLanes.promote(
          tightLane,
          [id],
          harness.now() + limits.grantMs,
        ),
      ),
    );

    expect(promoted.flat()).toHaveLength(1);
  });

  it("a promotion takes no message out of another lane", async (harness) => {
    const elsewhere = await insert(harness, {
      flow: { key: "elsewhere", limits: oneAtATime.limits },
    });
    await insert(harness, { flow: oneAtATime });

    expect(
      await harness.flowLanes.promote(tightLane, [elsewhere.id], harness.now() + limits.grantMs),
    ).toEqual([]);
    expect(await stateOf(harness, elsewhere)).toBe("waiting");
  });

  it("a lane comes to rest with the alarm and the rate window it is given", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    const { seq } = await laneOf(harness, tightLane);
    const wakeAt = harness.now() + 5_000;
    const window = { startedAt: harness.now(), count: 3 };

    const rested = await harness.flowLanes.rest(tightLane, seq, wakeAt, window);

    expect(rested).toBe(true);
    expect(await laneOf(harness, tightLane)).toMatchObject({ wakeAt, window, seq });
    expect(await harness.alarms.next(allShards)).toBe(wakeAt);
  });

  it("a lane with nothing to wait for rests without an alarm", async (harness) => {
    const { id } = await insert(harness, { flow: oneAtATime });
    await harness.records.cancel(aTenant, [id]);
    const { outbox } = await read(harness, { id, tenant: aTenant });
    await harness.records.clear(outbox.map(({ attempt, kind }) => ({ id, attempt, item: kind })));
    const { seq } = await laneOf(harness, tightLane);

    expect(await harness.flowLanes.rest(tightLane, seq, undefined, undefined)).toBe(true);
    expect((await laneOf(harness, tightLane)).wakeAt).toBeUndefined();
  });

  for (const { what, prepare } of [...entries, ...otherAlarms]) {
    it(`a lane that was woken meanwhile does not come to rest: ${what}`, async (harness) => {
      const enter = await prepare(harness);
      const { seq } = await laneOf(harness, tightLane);
      await enter();

      const rested = await harness.flowLanes.rest(
        tightLane,
        seq,
        harness.now() + 600_000,
        undefined,
      );

      expect(rested).toBe(false);
      expect((await laneOf(harness, tightLane)).wakeAt).toBeLessThanOrEqual(
        harness.now() + limits.ringAheadMs,
      );
    });
  }

  it("a lane is kept for a day after its last use, with an open rate window until that is over", async (harness) => {
    const flows = ["plain", "windowed", "awaited"].map((key) => ({
      key,
      limits: { rate: 5, periodMs: key === "windowed" ? 3 * dayMs : 1_000 },
    }));
    const [plain, windowed, awaited] = flows.map(({ key }) => flowLaneId(aTenant, key));
    if (!plain || !windowed || !awaited) throw new Error("unreachable");
    const sent = await insertAll(
      harness,
      flows.map((flow) => ({ flow, ...(flow.key === "awaited" && { delayMs: 30 * dayMs }) })),
    );
    await harness.records.cancel(
      aTenant,
      sent.slice(0, 2).map(({ id }) => id),
    );
    for (const { id } of sent.slice(0, 2)) await clearAll(harness, { id, tenant: aTenant });
    for (const lane of [plain, windowed]) {
      const { seq } = await laneOf(harness, lane);
      await harness.flowLanes.rest(lane, seq, undefined, { startedAt: harness.now(), count: 1 });
    }
    const keysLeft = async (afterMs: number): Promise<readonly string[]> => {
      await harness.advance(afterMs);
      await harness.records.removeFinished(allShards, harness.now(), 10);
      await harness.records.removeFinished(allShards, harness.now(), 10);
      return (await harness.flowLanes.rows([plain, windowed, awaited])).map(({ key }) => key);
    };

    expect(await keysLeft(dayMs - 60_000)).toEqual(["plain", "windowed", "awaited"]);
    expect(await keysLeft(120_000)).toEqual(["windowed", "awaited"]);
    await keysLeft(dayMs + 60_000);
    expect(await keysLeft(dayMs + 60_000)).toEqual(["awaited"]);
  });

  it("claimed and granted messages may hold a slot, each with its end", async (harness) => {
    const [claimed, granted, waiting, ended] = await insertAll(
      harness,
      Array.from({ length: 4 }, () => ({ flow: oneAtATime })),
    );
    if (!claimed || !granted || !waiting || !ended) throw new Error("unreachable");
    const grantUntil = harness.now() + limits.grantMs;
    await harness.flowLanes.promote(tightLane, [claimed.id, granted.id, ended.id], grantUntil);
    const { state } = await claimOne(harness, claimed.id);
    await settle(harness, await claimOne(harness, ended.id), delivered);

    const holders = await harness.flowLanes.slotHolders(tightLane);

    expect(holders.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
      [
        { id: claimed.id, until: state.leaseUntil },
        { id: granted.id, until: grantUntil },
      ].toSorted((a, b) => a.id.localeCompare(b.id)),
    );
  });

  it("a message claimed by its insert makes its lane without an alarm, is in no line and may hold a slot; handed back, it has its place", async (harness) => {
    const message = newMessage(harness, { flow: oneAtATime });
    const record = acceptClaimed(message, anOwner, harness.now());
    await harness.records.insert([{ record }], "new");

    expect((await laneOf(harness, tightLane)).wakeAt).toBeUndefined();
    expect(await inLine(harness)).toEqual([]);
    expect(await harness.flowLanes.slotHolders(tightLane)).toEqual([
      { id: message.id, until: record.state.leaseUntil },
    ]);

    const later = await insert(harness, { flow: oneAtATime });
    await harness.records.settle([giveBack(record, harness.now())]);
    expect(await inLine(harness)).toEqual([message.id, later.id]);
  });

  it("a message inserted with its grant may be claimed until the grant ends, and then has its place", async (harness) => {
    const taken = newMessage(harness, { flow: oneAtATime });
    const left = newMessage(harness, { flow: oneAtATime });
    await harness.records.insert(
      [taken, left].map((message) => ({ record: acceptGranted(message, harness.now()) })),
      "new",
    );

    expect((await laneOf(harness, tightLane)).wakeAt).toBeUndefined();
    expect(await inLine(harness)).toEqual([]);
    expect(await harness.flowLanes.slotHolders(tightLane)).toHaveLength(2);
    await claimOne(harness, taken.id);
    await harness.advance(limits.grantMs);

    expect(await harness.records.claim([left.id], anOwner)).toEqual([]);
    expect((await ringAll(harness)).lanes).toEqual([tightLane]);
    expect(await inLine(harness)).toEqual([left.id]);
  });

  it("a grant that has ended holds no slot", async (harness) => {
    const { id } = await insert(harness, { flow: oneAtATime });
    await harness.flowLanes.promote(tightLane, [id], harness.now() + 1_000);
    await harness.advance(1_000);

    expect(await harness.flowLanes.slotHolders(tightLane)).toEqual([]);
  });

  it("a message that waits for its retry holds no slot", async (harness) => {
    const record = await insertClaimed(harness, { flow: oneAtATime });
    await settle(harness, record, refused);

    expect(await harness.flowLanes.slotHolders(tightLane)).toEqual([]);
    expect(await inLine(harness)).toEqual([]);
  });
}

async function laneOf(harness: RecordsHarness, id: FlowId): Promise<FlowLane> {
  const [lane] = await harness.flowLanes.rows([id]);
  if (!lane) throw new Error(`there is no lane ${id}`);
  return lane;
}

const dayMs = 86_400_000;

type Entry = {
  readonly what: string;
  /** Returns a function by which a message then joins the line. */
  readonly prepare: (harness: RecordsHarness) => Promise<() => Promise<unknown>>;
};

const entries: readonly Entry[] = [
  {
    what: "by an insert",
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime });
      return () => insert(harness, { flow: oneAtATime });
    },
  },
  {
    what: "after a delay",
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime, delayMs: 1_000 });
      return () => advanceAndRing(harness, 1_000);
    },
  },
  {
    what: "after a grant that nobody used",
    prepare: async (harness) => {
      const { id } = await insert(harness, { flow: oneAtATime });
      await harness.flowLanes.promote(tightLane, [id], harness.now() + limits.grantMs);
      return () => advanceAndRing(harness, limits.grantMs);
    },
  },
  {
    what: "by a claim that was handed back",
    prepare: async (harness) => {
      const record = await insertClaimed(harness, { flow: oneAtATime });
      return () => settle(harness, record, { kind: "aborted" });
    },
  },
];

/** Entries without a message: the lane wakes for a granter that looks again. */
const otherAlarms: readonly Entry[] = [
  {
    what: "by other limits, brought by a delayed publish",
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime });
      return () =>
        insert(harness, {
          flow: { key: oneAtATime.key, limits: { parallelism: 5, periodMs: 1_000 } },
          delayMs: 600_000,
        });
    },
  },
  {
    what: "by its alarm, which rang",
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime });
      return () => ringAll(harness);
    },
  },
];

async function advanceAndRing(harness: RecordsHarness, ms: number): Promise<void> {
  await harness.advance(ms);
  await ringAll(harness);
}
