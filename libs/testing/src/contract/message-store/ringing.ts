import { expect } from "@jest/globals";
import {
  flowLaneId,
  isFinished,
  type LaneId,
  limits,
  originHash,
  type MessageId,
  shardOf,
} from "@posthaste/domain";
import { aCallbackPlan, anOwner, aTenant } from "../../builders/message.ts";
import {
  allShards,
  clearAll,
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
  rungBy,
  settle,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

export function ringing(guarantee: StoreGuarantee): void {
  guarantee(
    "a hint says who, whose, where to and at which epoch",
    async (harness) => {
      const { id } = await insert(harness, { url: "https://destination.example/a?b" });
      await harness.advance(limits.ringAheadMs);

      const { hints } = await harness.store.ring(allShards, 100);

      expect(hints).toEqual([
        { id, tenant: aTenant, origin: originHash("https://destination.example/"), epoch: 0 },
      ]);
    },
    limits.ringAheadMs,
  );

  guarantee(
    "an alarm rings when its time has come and not before",
    async (harness) => {
      const { id } = await insert(harness, { delayMs: 2_000 });
      const early = await harness.store.ring(allShards, 100);
      await harness.advance(2_000);
      const late = await harness.store.ring(allShards, 100);

      expect(rungBy(early)).toBe(0);
      expect(late.hints.map((hint) => hint.id)).toEqual([id]);
    },
    2_000,
  );

  guarantee(
    "a ring moves the alarm ahead, so that the next round is silent",
    async (harness) => {
      const message = await insert(harness, { delayMs: 2_000 });
      await harness.advance(2_000);
      const from = harness.now();
      await harness.store.ring(allShards, 100);

      expect(rungBy(await harness.store.ring(allShards, 100))).toBe(0);
      expect((await read(harness, message)).wakeAt).toBeGreaterThanOrEqual(
        from + limits.ringAheadMs,
      );
      expect((await read(harness, message)).wakeAt).toBeLessThanOrEqual(
        harness.now() + 2 * limits.ringAheadMs,
      );
    },
    2_000,
  );

  guarantee(
    "a record that stays due rings after 30 s, then at double the distance each time, up to 10 min",
    async (harness) => {
      const message = await insert(harness);
      const distances: number[] = [];
      for (const waitMs of doubling) {
        const alarm = (await harness.store.nextAlarm(allShards)) ?? 0;
        distances.push(alarm - harness.now());
        await harness.advance(waitMs);
        const { hints } = await ringAll(harness);
        expect(hints).toHaveLength(1);
      }

      expect(distances).toEqual(doubling);
      expect((await readIn(harness, message, "due")).state.hints).toBe(doubling.length);
    },
    total(doubling),
  );

  guarantee(
    "ringing changes neither epoch nor counts",
    async (harness) => {
      const message = await insert(harness);
      const before = await read(harness, message);
      await harness.advance(limits.ringAheadMs);
      await ringAll(harness);

      const { epoch, retried, leaseLosses, deferrals, outbox } = await read(harness, message);
      expect({ epoch, retried, leaseLosses, deferrals, outbox }).toEqual({
        epoch: before.epoch,
        retried: before.retried,
        leaseLosses: before.leaseLosses,
        deferrals: before.deferrals,
        outbox: before.outbox,
      });
    },
    limits.ringAheadMs,
  );

  guarantee(
    "a record whose time has come goes into its line when it has a lane, and the lane is named",
    async (harness) => {
      const message = await insert(harness, { delayMs: 2_000, flow: oneAtATime });
      await restTightLane(harness);
      await harness.advance(2_000);

      const { hints, lanes } = await ringAll(harness);

      expect(hints).toEqual([]);
      expect(lanes).toContain(tightLane);
      expect(await stateOf(harness, message)).toBe("waiting");
      expect(await inLine(harness)).toEqual([message.id]);
    },
    2_000,
  );

  guarantee(
    "a record with its grant past goes back into its line, and the lane is named",
    async (harness) => {
      const message = await insert(harness, { flow: oneAtATime });
      await harness.store.promote(tightLane, [message.id], harness.now() + limits.grantMs);
      await restTightLane(harness);
      await harness.advance(limits.grantMs);

      const { lanes, hints } = await ringAll(harness);

      expect(lanes).toContain(tightLane);
      expect(hints).toEqual([]);
      expect(await stateOf(harness, message)).toBe("waiting");
    },
    limits.grantMs,
  );

  guarantee("a lane rings while its alarm is due, and is moved ahead", async (harness) => {
    await insert(harness, { flow: oneAtATime });

    const first = await harness.store.ring(allShards, 100);
    const second = await harness.store.ring(allShards, 100);

    expect(first.lanes).toEqual([tightLane]);
    expect(rungBy(second)).toBe(0);
    expect(await harness.store.nextAlarm(allShards)).toBeGreaterThan(harness.now());
  });

  guarantee(
    "a lane with messages in line rings again when its grant never came",
    async (harness) => {
      await insert(harness, { flow: oneAtATime });
      await ringAll(harness);
      await harness.advance(limits.ringAheadMs);

      expect((await ringAll(harness)).lanes).toEqual([tightLane]);
    },
    limits.ringAheadMs,
  );

  guarantee(
    "a finished record without follow-ups does not ring",
    async (harness) => {
      const record = await insertClaimed(harness);
      await settle(harness, record, delivered);
      await clearAll(harness, record.message);
      await harness.advance(limits.ringAheadMs);

      expect(rungBy(await ringAll(harness))).toBe(0);
    },
    limits.ringAheadMs,
  );

  guarantee(
    "a claim whose lease holds does not ring",
    async (harness) => {
      const { message, epoch } = await insertClaimed(harness);
      await harness.advance(limits.leaseMs - limits.leaseRenewMs);
      await harness.store.renew([{ id: message.id, epoch }]);
      await harness.advance(limits.leaseRenewMs);

      expect(rungBy(await ringAll(harness))).toBe(0);
    },
    limits.leaseMs,
  );

  guarantee(
    "only the shards asked for ring",
    async (harness) => {
      const messages = await insertAll(
        harness,
        Array.from({ length: 8 }, () => ({ delayMs: 1_000 })),
      );
      await harness.advance(1_000);
      const mine = messages[0]?.shard ?? 0;
      const others = allShards.filter((shard) => shard !== mine);

      const first = await ringAll(harness, [mine]);
      const second = await ringAll(harness, others);

      const idsIn = (inMine: boolean) =>
        messages.filter(({ shard }) => (shard === mine) === inMine).map(({ id }) => id);
      expect(sorted(first.hints.map(({ id }) => id))).toEqual(sorted(idsIn(true)));
      expect(sorted(second.hints.map(({ id }) => id))).toEqual(sorted(idsIn(false)));
      expect(rungBy(await harness.store.ring([], 100))).toBe(0);
    },
    1_000,
  );

  guarantee(
    "a round rings no more than its limit, and rounds reach all, the earliest first",
    async (harness) => {
      const messages = await insertAll(
        harness,
        Array.from({ length: 12 }, (_, i) => ({ delayMs: 1_000 + i })),
      );
      await harness.advance(2_000);

      const rounds: (readonly MessageId[])[] = [];
      for (let round = 0; round < 4; round++) {
        rounds.push((await harness.store.ring(allShards, 5)).hints.map(({ id }) => id));
      }

      expect(rounds.map((ids) => ids.length)).toEqual([5, 5, 2, 0]);
      expect(sorted(rounds[0] ?? [])).toEqual(sorted(messages.slice(0, 5).map(({ id }) => id)));
      expect(sorted(rounds.flat())).toEqual(sorted(messages.map(({ id }) => id)));
    },
    2_000,
  );

  guarantee(
    "the next alarm is the earliest of the shards asked for, records and lanes alike",
    async (harness) => {
      const none = await harness.store.nextAlarm(allShards);
      const later = await insert(harness, { delayMs: 90_000 });
      const afterOne = await harness.store.nextAlarm(allShards);
      const sooner = await insert(harness, { delayMs: 60_000 });
      const afterTwo = await harness.store.nextAlarm(allShards);
      const elsewhere = allShards.filter(
        (shard) => shard !== later.shard && shard !== sooner.shard,
      );
      const empty = await harness.store.nextAlarm(elsewhere);
      await insert(harness, { flow: oneAtATime });

      expect(none).toBeUndefined();
      expect(afterOne).toBe(later.notBefore);
      expect(afterTwo).toBe(sooner.notBefore);
      expect(empty).toBeUndefined();
      expect(await harness.store.nextAlarm([shardOf(tightLane)])).toBeLessThanOrEqual(
        harness.now(),
      );
    },
  );

  guarantee(
    "two ringers at once do no harm: every alarm rings, and every record goes to one claimer",
    async (harness) => {
      const { store, other = store } = harness;
      const delayed = await insertAll(
        harness,
        Array.from({ length: 20 }, () => ({ delayMs: 1_000 })),
      );
      const queued = await insertAll(
        harness,
        Array.from({ length: 5 }, () => ({ delayMs: 1_000, flow: oneAtATime })),
      );
      await harness.advance(1_000);

      const said = await Promise.all(
        [store, other, store, other].map((each) => each.ring(allShards, 500)),
      );

      const hinted = said.flatMap(({ hints }) => hints.map(({ id }) => id));
      expect(sorted([...new Set(hinted)])).toEqual(sorted(delayed.map(({ id }) => id)));
      expect(said.flatMap(({ lanes }) => lanes)).toContain(tightLane);
      expect(await inLine(harness)).toEqual(queued.map(({ id }) => id));
      expect(await store.nextAlarm(allShards)).toBeGreaterThan(harness.now());
      const claims = await Promise.all(hinted.map((id) => store.claim([id], anOwner)));
      expect(claims.flat()).toHaveLength(delayed.length);
    },
    1_000,
  );

  guarantee(
    "after a ring every record that is not finished has an alarm ahead, its own or its lane's",
    async (harness) => {
      const policy = { timeoutMs: 1_000, retriesMax: 3, labels: [], callback };
      await insertAll(harness, [{}, { delayMs: 20_000 }, { delayMs: 300_000 }, { fanOut }]);
      await insertAll(harness, [{ flow: oneAtATime }, { flow: oneAtATime, delayMs: 20_000 }]);
      const [first, second, third] = [
        await insertClaimed(harness, { policy }),
        await insertClaimed(harness, { policy }),
        await insertClaimed(harness, { flow: { key: "other", limits: oneAtATime.limits } }),
      ];
      await settle(harness, first, refused);
      await settle(harness, second, delivered);
      await harness.advance(limits.leaseMs + 1_000);

      await ringAll(harness);

      const now = harness.now();
      expect(await harness.store.nextAlarm(allShards)).toBeGreaterThan(now);
      for (const { message } of [first, second, third]) {
        const record = await read(harness, message);
        const wakeAt =
          record.state.kind === "waiting" ? await alarmOfLane(harness, otherLane) : record.wakeAt;
        if (!isFinished(record.state) || record.outbox.length > 0)
          expect(wakeAt).toBeGreaterThan(now);
      }
      expect(await alarmOfLane(harness, tightLane)).toBeGreaterThan(now);
    },
    limits.leaseMs + 1_000,
  );
}

const fanOut = { group: "group", chunks: [], endpointCount: 1_000, skipped: [] };
const callback = aCallbackPlan();
const doubling = [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000];
const total = (waits: readonly number[]): number => waits.reduce((sum, ms) => sum + ms, 0);
const sorted = (ids: readonly MessageId[]): readonly MessageId[] => ids.toSorted();
const otherLane = flowLaneId(aTenant, "other");

async function alarmOfLane(harness: MessageStoreHarness, id: LaneId): Promise<number | undefined> {
  const [lane] = await harness.store.lanes([id]);
  return lane?.wakeAt;
}

/** As a granter leaves it who found nothing to grant for the next ten minutes. */
async function restTightLane(harness: MessageStoreHarness): Promise<void> {
  const [lane] = await harness.store.lanes([tightLane]);
  await harness.store.rest(tightLane, lane?.seq ?? -1, harness.now() + 600_000, undefined);
}
