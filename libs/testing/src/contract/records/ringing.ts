import { expect } from "@jest/globals";
import {
  allShards,
  type FlowId,
  flowLaneId,
  isFinished,
  limits,
  type Message,
  type MessageId,
  originHash,
  shardOf,
} from "@posthaste/domain";
import { aCallbackPlan, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  clearAll,
  delivered,
  inLine,
  insert,
  insertAll,
  insertClaimed,
  type RecordsHarness,
  noRings,
  oneAtATime,
  read,
  readIn,
  refused,
  ring,
  ringAll,
  rungBy,
  settle,
  type StoreGuarantee,
  stateOf,
  tightLane,
} from "./harness.ts";

/** Inserts a delivered message whose callback is not made yet. */
async function insertToFollowUp(
  harness: RecordsHarness,
  body = new Uint8Array(5),
): Promise<Message> {
  const policy = aPolicy({ callback: aCallbackPlan() });
  const record = await insertClaimed(harness, { policy, body });
  await settle(harness, record, delivered);
  return record.message;
}

/** Returns the id if the record has a fact to report; some stores make facts safe with the settle. */
async function factsOf(harness: RecordsHarness, id: MessageId): Promise<readonly MessageId[]> {
  const { outbox } = await read(harness, { id, tenant: aTenant });
  return outbox.length > 0 ? [id] : [];
}

export function ringing(it: StoreGuarantee): void {
  it("a hint has the message, its tenant, its destination, its epoch and its size", async (harness) => {
    const body = new Uint8Array(1_234);
    const { id } = await insert(harness, { url: "https://destination.example/a?b", body });
    await harness.advance(limits.ringAheadMs);

    const { hints } = await ring(harness, allShards, 100);

    const origin = originHash("https://destination.example/");
    expect(hints).toEqual([{ id, tenant: aTenant, origin, epoch: 0, bytes: 1_234 }]);
  });

  it("an alarm rings when its time has come and not before", async (harness) => {
    const { id } = await insert(harness, { delayMs: 2_000 });
    const early = await ring(harness, allShards, 100);
    await harness.advance(2_000);
    const late = await ring(harness, allShards, 100);

    expect(rungBy(early)).toBe(0);
    expect(late.hints.map((hint) => hint.id)).toEqual([id]);
  });

  it("a ring moves the alarm ahead, so that the next round is silent", async (harness) => {
    const message = await insert(harness, { delayMs: 2_000 });
    await harness.advance(2_000);
    const from = harness.now();
    await ring(harness, allShards, 100);

    expect(rungBy(await ring(harness, allShards, 100))).toBe(0);
    expect((await read(harness, message)).wakeAt).toBeGreaterThanOrEqual(from + limits.ringAheadMs);
    expect((await read(harness, message)).wakeAt).toBeLessThanOrEqual(
      harness.now() + 2 * limits.ringAheadMs,
    );
  });

  it("a record that stays due rings after 30 s, then at double the distance each time, up to 10 min", async (harness) => {
    const message = await insert(harness);
    const distances: number[] = [];
    for (const waitMs of doubling) {
      const alarm = (await harness.alarms.next(allShards)) ?? 0;
      distances.push(alarm - harness.now());
      await harness.advance(waitMs);
      const { hints } = await ringAll(harness);
      expect(hints).toHaveLength(1);
    }

    expect(distances).toEqual(doubling);
    expect((await readIn(harness, message, "due")).state.hints).toBe(doubling.length);
  });

  it("ringing changes neither epoch nor counts", async (harness) => {
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
  });

  it("a record whose time has come joins its lane's line, and the lane is named", async (harness) => {
    const message = await insert(harness, { delayMs: 2_000, flow: oneAtATime });
    await restTightLane(harness);
    await harness.advance(2_000);

    const { hints, lanes } = await ringAll(harness);

    expect(hints).toEqual([]);
    expect(lanes).toContain(tightLane);
    expect(await stateOf(harness, message)).toBe("waiting");
    expect(await inLine(harness)).toEqual([message.id]);
  });

  it("a record whose grant has ended returns to its line, and the lane is named", async (harness) => {
    const message = await insert(harness, { flow: oneAtATime });
    await harness.flowLanes.promote(tightLane, [message.id], harness.now() + limits.grantMs);
    await restTightLane(harness);
    await harness.advance(limits.grantMs);

    const { lanes, hints } = await ringAll(harness);

    expect(lanes).toContain(tightLane);
    expect(hints).toEqual([]);
    expect(await stateOf(harness, message)).toBe("waiting");
  });

  it("a lane rings while its alarm is due, and is moved ahead", async (harness) => {
    await insert(harness, { flow: oneAtATime });

    const first = await ring(harness, allShards, 100);
    const second = await ring(harness, allShards, 100);

    expect(first.lanes).toEqual([tightLane]);
    expect(rungBy(second)).toBe(0);
    expect(await harness.alarms.next(allShards)).toBeGreaterThan(harness.now());
  });

  it("a lane with messages in line rings again when its grant never came", async (harness) => {
    await insert(harness, { flow: oneAtATime });
    await ringAll(harness);
    await harness.advance(limits.ringAheadMs);

    expect((await ringAll(harness)).lanes).toEqual([tightLane]);
  });

  it("a finished record without follow-ups does not ring", async (harness) => {
    const record = await insertClaimed(harness);
    await settle(harness, record, delivered);
    await clearAll(harness, record.message);
    await harness.advance(limits.ringAheadMs);

    expect(rungBy(await ringAll(harness))).toBe(0);
  });

  it("a claim whose lease holds does not ring", async (harness) => {
    const { message, epoch } = await insertClaimed(harness);
    await harness.advance(limits.leaseMs - limits.leaseRenewMs);
    await harness.records.renew([{ id: message.id, epoch }]);
    await harness.advance(limits.leaseRenewMs);

    expect(rungBy(await ringAll(harness))).toBe(0);
  });

  it("only the given shards ring", async (harness) => {
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
    expect(rungBy(await ring(harness, [], 100))).toBe(0);
  });

  it("a round rings no more than its limit, and rounds reach all, the earliest first", async (harness) => {
    const messages = await insertAll(
      harness,
      Array.from({ length: 12 }, (_, i) => ({ delayMs: 1_000 + i })),
    );
    await harness.advance(2_000);

    const rounds: (readonly MessageId[])[] = [];
    for (let round = 0; round < 4; round++) {
      rounds.push((await ring(harness, allShards, 5)).hints.map(({ id }) => id));
    }

    expect(rounds.map((ids) => ids.length)).toEqual([5, 5, 2, 0]);
    expect(sorted(rounds[0] ?? [])).toEqual(sorted(messages.slice(0, 5).map(({ id }) => id)));
    expect(sorted(rounds.flat())).toEqual(sorted(messages.map(({ id }) => id)));
  });

  it("many follow-ups do not hold up due records: each source rings within its own limit", async (harness) => {
    const herd = await Promise.all(Array.from({ length: 5 }, () => insertToFollowUp(harness)));
    const due = await insert(harness, { delayMs: limits.ringAheadMs });
    await harness.advance(limits.ringAheadMs);

    const first = await ring(harness, allShards, 3);
    const second = await ring(harness, allShards, 3);

    expect(first.hints.map(({ id }) => id)).toEqual([due.id]);
    expect([first, second].map(({ followUps }) => followUps.length)).toEqual([3, 2]);
    expect([first, second].map(({ more }) => [...more])).toEqual([["followUp"], []]);
    const rung = [...first.followUps, ...second.followUps].map(({ message }) => message.id);
    expect(sorted(rung)).toEqual(sorted(herd.map(({ id }) => id)));
  });

  it("many large follow-ups ring over several rounds", async (harness) => {
    const body = new Uint8Array(limits.readBytesMax * 0.3);
    const ids: MessageId[] = [];
    for (let n = 0; n < 5; n++) ids.push((await insertToFollowUp(harness, body)).id);
    await harness.advance(limits.ringAheadMs);

    const first = await ring(harness, allShards, 100, ["followUp"]);
    const second = await ring(harness, allShards, 100, ["followUp"]);

    expect([first, second].map(({ followUps }) => followUps.length)).toEqual([4, 1]);
    expect([first, second].map(({ more }) => [...more])).toEqual([["followUp"], []]);
    const rung = [...first.followUps, ...second.followUps].map(({ message }) => message.id);
    expect(sorted(rung)).toEqual(sorted(ids));
  });

  it("a source that is not named keeps its alarms", async (harness) => {
    const { id } = await insertToFollowUp(harness);
    await harness.advance(limits.ringAheadMs);
    const now = harness.now();

    expect(await harness.alarms.next(allShards, ["record"])).toBeUndefined();
    expect(await ring(harness, allShards, 100, ["record"])).toEqual(noRings);
    expect(await harness.alarms.next(allShards)).toBeLessThanOrEqual(now);
    const { followUps } = await ring(harness, allShards, 100);
    expect(followUps.map(({ message }) => message.id)).toEqual([id]);
  });

  it("a ring of records alone names the lanes that they join, and leaves the alarms of lanes", async (harness) => {
    await insert(harness, { flow: oneAtATime, delayMs: 1_000 });
    await insert(harness, { flow: { key: "other", limits: oneAtATime.limits } });
    await harness.advance(1_000);

    const ofRecords = await ring(harness, allShards, 100, ["record"]);
    const ofLanes = await ring(harness, allShards, 100, ["flow"]);

    expect(ofRecords.lanes).toEqual([tightLane]);
    expect(new Set(ofLanes.lanes)).toEqual(new Set([tightLane, otherLane]));
  });

  it("a finished record that keeps only facts rings as a fact, without its body", async (harness) => {
    const plain = await insertClaimed(harness);
    await settle(harness, plain, delivered);
    const { id } = await insertToFollowUp(harness);
    await harness.records.clear([{ id, attempt: 0, item: "callback" }]);
    const left = await Promise.all([plain.message.id, id].map((each) => factsOf(harness, each)));
    await harness.advance(limits.ringAheadMs);

    const others = await ring(harness, allShards, 100, ["record", "followUp"]);
    const { followUps } = await ring(harness, allShards, 100, ["fact"]);

    expect(others).toEqual(noRings);
    expect(sorted(followUps.map(({ message }) => message.id))).toEqual(sorted(left.flat()));
    for (const { message } of followUps) expect(message.body).toHaveLength(0);
  });

  it("the next alarm is the earliest of the given shards, of records and lanes", async (harness) => {
    const none = await harness.alarms.next(allShards);
    const later = await insert(harness, { delayMs: 90_000 });
    const afterOne = await harness.alarms.next(allShards);
    const sooner = await insert(harness, { delayMs: 60_000 });
    const afterTwo = await harness.alarms.next(allShards);
    const elsewhere = allShards.filter((shard) => shard !== later.shard && shard !== sooner.shard);
    const empty = await harness.alarms.next(elsewhere);
    await insert(harness, { flow: oneAtATime });

    expect(none).toBeUndefined();
    expect(afterOne).toBe(later.notBefore);
    expect(afterTwo).toBe(sooner.notBefore);
    expect(empty).toBeUndefined();
    expect(await harness.alarms.next([shardOf(tightLane)])).toBeLessThanOrEqual(harness.now());
  });

  it("two ringers at once ring every alarm, and every record goes to one claimer", async (harness) => {
    const { records, alarms, other = harness } = harness;
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
      [harness, other, harness, other].map((each) => ring(each, allShards, 500)),
    );

    const hinted = said.flatMap(({ hints }) => hints.map(({ id }) => id));
    expect(sorted([...new Set(hinted)])).toEqual(sorted(delayed.map(({ id }) => id)));
    expect(said.flatMap(({ lanes }) => lanes)).toContain(tightLane);
    expect(await inLine(harness)).toEqual(queued.map(({ id }) => id));
    expect(await alarms.next(allShards)).toBeGreaterThan(harness.now());
    const claims = await Promise.all(hinted.map((id) => records.claim([id], anOwner)));
    expect(claims.flat()).toHaveLength(delayed.length);
  });

  it("after a ring every unfinished record has an alarm in the future, its own or its lane's", async (harness) => {
    const policy = { timeoutMs: 1_000, retriesMax: 3, labels: [], callback };
    await insertAll(harness, [{}, { delayMs: 20_000 }, { delayMs: 300_000 }]);
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
    expect(await harness.alarms.next(allShards)).toBeGreaterThan(now);
    for (const { message } of [first, second, third]) {
      const record = await read(harness, message);
      const wakeAt =
        record.state.kind === "waiting" ? await alarmOfLane(harness, otherLane) : record.wakeAt;
      if (!isFinished(record.state) || record.outbox.length > 0)
        expect(wakeAt).toBeGreaterThan(now);
    }
    expect(await alarmOfLane(harness, tightLane)).toBeGreaterThan(now);
  });
}

const callback = aCallbackPlan();
const doubling = [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000];
const sorted = (ids: readonly MessageId[]): readonly MessageId[] => ids.toSorted();
const otherLane = flowLaneId(aTenant, "other");

async function alarmOfLane(harness: RecordsHarness, id: FlowId): Promise<number | undefined> {
  const [lane] = await harness.flowLanes.rows([id]);
  return lane?.wakeAt;
}

/** Rests the lane as a granter does that found nothing to grant for the next ten minutes. */
async function restTightLane(harness: RecordsHarness): Promise<void> {
  const [lane] = await harness.flowLanes.rows([tightLane]);
  await harness.flowLanes.rest(tightLane, lane?.seq ?? -1, harness.now() + 600_000, undefined);
}
