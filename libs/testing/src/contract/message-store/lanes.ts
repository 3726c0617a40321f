import { expect } from "@jest/globals";
import { flowLaneId, limits, type LaneId, type Message, originHash } from "@posthaste/domain";
import { type Hint, type LaneRow } from "@posthaste/ports";
import { anotherTenant, aTenant } from "../../builders/message.ts";
import {
  allShards,
  claimOne,
  delivered,
  inLine,
  insert,
  insertAll,
  insertClaimed,
  type MessageStoreHarness,
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

export function lanes(guarantee: StoreGuarantee): void {
  guarantee("an insert makes its lane, with its limits and an alarm for now", async (harness) => {
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

  guarantee("a lane that nobody made is not there", async (harness) => {
    await insert(harness, { flow: oneAtATime });

    const found = await harness.store.lanes([flowLaneId(aTenant, "unheard-of"), tightLane]);

    expect(found.map(({ id }) => id)).toEqual([tightLane]);
    expect(await inLine(harness, flowLaneId(aTenant, "unheard-of"))).toEqual([]);
    expect(await harness.store.lanes([])).toEqual([]);
  });

  guarantee("two tenants with the same key have two lanes", async (harness) => {
    const mine = await insert(harness, { flow: oneAtATime });
    const theirs = await insert(harness, { flow: oneAtATime, tenant: anotherTenant });

    expect(await inLine(harness)).toEqual([mine.id]);
    expect(await inLine(harness, flowLaneId(anotherTenant, oneAtATime.key))).toEqual([theirs.id]);
  });

  guarantee(
    "the limits of the last publish hold, also where it was only a delayed one",
    async (harness) => {
      await insert(harness, { flow: oneAtATime });
      const wider = { rate: 7, periodMs: 60_000 };
      await insert(harness, {
        flow: { key: oneAtATime.key, limits: { parallelism: 5, periodMs: 1_000 } },
      });
      await insert(harness, { flow: { key: oneAtATime.key, limits: wider }, delayMs: 60_000 });

      expect((await laneOf(harness, tightLane)).limits).toEqual(wider);
    },
  );

  guarantee(
    "messages stand in line in the order of their inserts, also within one batch",
    async (harness) => {
      const first = await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime }]);
      const then = await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime }]);

      const line = [...first, ...then].map(({ id }) => id);
      expect(await inLine(harness)).toEqual(line);
      expect(await inLine(harness, tightLane, 3)).toEqual(line.slice(0, 3));
    },
  );

  guarantee(
    "a message that waits again, after a retry or a grant unused, has its old place",
    async (harness) => {
      const [first, second, third] = await insertAll(harness, [
        { flow: oneAtATime },
        { flow: oneAtATime },
        { flow: oneAtATime },
      ]);
      if (!first || !second || !third) throw new Error("unreachable");
      await harness.store.promote(tightLane, [first.id, second.id], harness.now() + limits.grantMs);
      await settle(harness, await claimOne(harness, first.id), refused);
      await harness.advance(limits.grantMs);
      await ringAll(harness);

      expect(await inLine(harness)).toEqual([first.id, second.id, third.id]);
    },
    limits.grantMs,
  );

  guarantee("who stands in line is answered as a hint has it", async (harness) => {
    const first = await insertClaimed(harness, { flow: oneAtATime });
    const second = await insert(harness, { flow: oneAtATime });
    await settle(harness, first, { kind: "aborted" });

    const heads = await harness.store.heads(tightLane, 10);

    const expected = (message: Message, epoch: number): Hint => ({
      id: message.id,
      tenant: message.tenant,
      origin: originHash(message.url),
      epoch,
    });
    expect(heads).toEqual([expected(first.message, 1), expected(second, 0)]);
  });

  guarantee(
    "a promotion makes those that wait due until their grant ends, and answers them",
    async (harness) => {
      const [first, second, third] = await insertAll(harness, [
        { flow: oneAtATime },
        { flow: oneAtATime },
        { flow: oneAtATime },
      ]);
      if (!first || !second || !third) throw new Error("unreachable");
      const grantUntil = harness.now() + limits.grantMs;
      await harness.store.cancel(aTenant, [second.id]);

      const answer = await harness.store.promote(
        tightLane,
        [first.id, second.id, harness.ids.next()],
        grantUntil,
      );

      const promoted = await readIn(harness, first, "due");
      expect(answer).toEqual([first.id]);
      expect(promoted.state).toEqual({ kind: "due", hints: 0, grantUntil });
      expect(promoted.wakeAt).toBeLessThanOrEqual(grantUntil);
      expect(await inLine(harness)).toEqual([third.id]);
    },
  );

  guarantee(
    "a promotion keeps the rate window that it was granted in, whoever gets into line",
    async (harness) => {
      const [first] = await insertAll(harness, [{ flow: oneAtATime }]);
      if (!first) throw new Error("unreachable");
      const window = { startedAt: harness.now(), count: 1 };

      await harness.store.promote(tightLane, [first.id], harness.now() + limits.grantMs, window);
      await insert(harness, { flow: oneAtATime });

      expect((await laneOf(harness, tightLane)).window).toEqual(window);
    },
  );

  guarantee("of ten promotions of one message at once one has promoted it", async (harness) => {
    const { store, other = store } = harness;
    const { id } = await insert(harness, { flow: oneAtATime });

    const promoted = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? store : other).promote(tightLane, [id], harness.now() + limits.grantMs),
      ),
    );

    expect(promoted.flat()).toHaveLength(1);
  });

  guarantee("a promotion takes nothing out of another lane", async (harness) => {
    const elsewhere = await insert(harness, {
      flow: { key: "elsewhere", limits: oneAtATime.limits },
    });
    await insert(harness, { flow: oneAtATime });

    expect(
      await harness.store.promote(tightLane, [elsewhere.id], harness.now() + limits.grantMs),
    ).toEqual([]);
    expect(await stateOf(harness, elsewhere)).toBe("waiting");
  });

  guarantee(
    "a lane comes to rest with the alarm and the rate window it is given",
    async (harness) => {
      await insert(harness, { flow: oneAtATime });
      const { seq } = await laneOf(harness, tightLane);
      const wakeAt = harness.now() + 5_000;
      const window = { startedAt: harness.now(), count: 3 };

      const rested = await harness.store.rest(tightLane, seq, wakeAt, window);

      expect(rested).toBe(true);
      expect(await laneOf(harness, tightLane)).toMatchObject({ wakeAt, window, seq });
      expect(await harness.store.nextAlarm(allShards)).toBe(wakeAt);
    },
  );

  guarantee("a lane with nothing to wait for rests without an alarm", async (harness) => {
    const { id } = await insert(harness, { flow: oneAtATime });
    await harness.store.cancel(aTenant, [id]);
    const { outbox } = await read(harness, { id, tenant: aTenant });
    await harness.store.clear(outbox.map(({ attempt, kind }) => ({ id, attempt, item: kind })));
    const { seq } = await laneOf(harness, tightLane);

    expect(await harness.store.rest(tightLane, seq, undefined, undefined)).toBe(true);
    expect((await laneOf(harness, tightLane)).wakeAt).toBeUndefined();
  });

  for (const { what, waitMs, prepare } of entries) {
    guarantee(
      `a lane that somebody has got into meanwhile does not come to rest: ${what}`,
      async (harness) => {
        const enter = await prepare(harness);
        const { seq } = await laneOf(harness, tightLane);
        await enter();

        const rested = await harness.store.rest(tightLane, seq, harness.now() + 600_000, undefined);

        expect(rested).toBe(false);
        expect((await laneOf(harness, tightLane)).wakeAt).toBeLessThanOrEqual(
          harness.now() + limits.ringAheadMs,
        );
      },
      waitMs,
    );
  }

  guarantee(
    "those who may hold a slot are the claimed and the granted, each until when",
    async (harness) => {
      const [claimed, granted, waiting, ended] = await insertAll(
        harness,
        Array.from({ length: 4 }, () => ({ flow: oneAtATime })),
      );
      if (!claimed || !granted || !waiting || !ended) throw new Error("unreachable");
      const grantUntil = harness.now() + limits.grantMs;
      await harness.store.promote(tightLane, [claimed.id, granted.id, ended.id], grantUntil);
      const { state } = await claimOne(harness, claimed.id);
      await settle(harness, await claimOne(harness, ended.id), delivered);

      const holders = await harness.store.slotHolders(tightLane);

      expect(holders.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
        [
          { id: claimed.id, until: state.leaseUntil },
          { id: granted.id, until: grantUntil },
        ].toSorted((a, b) => a.id.localeCompare(b.id)),
      );
    },
  );

  guarantee(
    "a grant that is past holds no slot",
    async (harness) => {
      const { id } = await insert(harness, { flow: oneAtATime });
      await harness.store.promote(tightLane, [id], harness.now() + 1_000);
      await harness.advance(1_000);

      expect(await harness.store.slotHolders(tightLane)).toEqual([]);
    },
    1_000,
  );

  guarantee("a retry's wait holds no slot", async (harness) => {
    const record = await insertClaimed(harness, { flow: oneAtATime });
    await settle(harness, record, refused);

    expect(await harness.store.slotHolders(tightLane)).toEqual([]);
    expect(await inLine(harness)).toEqual([]);
  });
}

async function laneOf(harness: MessageStoreHarness, id: LaneId): Promise<LaneRow> {
  const [lane] = await harness.store.lanes([id]);
  if (!lane) throw new Error(`there is no lane ${id}`);
  return lane;
}

type Entry = {
  readonly what: string;
  readonly waitMs: number;
  /** Answers with how somebody then gets into the line. */
  readonly prepare: (harness: MessageStoreHarness) => Promise<() => Promise<unknown>>;
};

const entries: readonly Entry[] = [
  {
    what: "by an insert",
    waitMs: 0,
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime });
      return () => insert(harness, { flow: oneAtATime });
    },
  },
  {
    what: "after a delay",
    waitMs: 1_000,
    prepare: async (harness) => {
      await insert(harness, { flow: oneAtATime, delayMs: 1_000 });
      return () => advanceAndRing(harness, 1_000);
    },
  },
  {
    what: "after a grant that nobody used",
    waitMs: limits.grantMs,
    prepare: async (harness) => {
      const { id } = await insert(harness, { flow: oneAtATime });
      await harness.store.promote(tightLane, [id], harness.now() + limits.grantMs);
      return () => advanceAndRing(harness, limits.grantMs);
    },
  },
  {
    what: "by a claim that was handed back",
    waitMs: 0,
    prepare: async (harness) => {
      const record = await insertClaimed(harness, { flow: oneAtATime });
      return () => settle(harness, record, { kind: "aborted" });
    },
  },
];

async function advanceAndRing(harness: MessageStoreHarness, ms: number): Promise<void> {
  await harness.advance(ms);
  await ringAll(harness);
}
