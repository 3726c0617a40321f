/** Tests a store in use after its clock is set: ahead by an hour, or back by the two days that the clock was ahead. */
import { describe, expect, it } from "@jest/globals";
import {
  accept,
  acceptClaimed,
  allShards,
  type DeduplicationKey,
  deduplicationKeys,
  flowLaneId,
  giveBack,
  type InState,
  limits,
  postpone,
  settleAttempt,
} from "@posthaste/domain";
import {
  aCommand,
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  anotherOwner,
  aTenant,
  newId,
  virtualClock,
} from "@posthaste/testing";
import { newDirectory, openIn, type Opened } from "./opened.fixture.ts";

const days = 2 * 86_400_000;
const hour = 3_600_000;

type Claimed = InState<"claimed">;
const onceMore = { chance: 0, retryDelayMs: 10_000 };
const failed = (endedAt: number) => anAttempt(anAnswer(500), { endedAt });

function openAhead(): Opened {
  const clock = virtualClock();
  clock.set(days);
  return openIn(newDirectory(), { clock });
}

const aKey = (): DeduplicationKey => {
  const deduplication = { kind: "explicit", id: "order-1" } as const;
  const [key] = deduplicationKeys(aCommand({ deduplication }), [], String);
  if (key === undefined) throw new Error("a publish with an explicit id has a key");
  return key;
};

async function insertClaimed({ records, clock }: Opened) {
  const record = acceptClaimed(aMessage({ now: clock.now() }), anOwner, clock.now());
  await records.insert([{ record }], "new");
  return record;
}

describe("after the clock was set back", () => {
  it.each([false, true])("a window of deduplication is over (opened again: %s)", async (again) => {
    const first = openAhead();
    await first.tokens.confirm([{ key: aKey(), id: newId() }]);
    first.clock.set(-days);
    if (again) await first.close();
    const { tokens, records, clock } = again
      ? openIn(first.dataDir, { clock: first.clock })
      : first;

    const id = newId();
    expect(await tokens.claim([{ key: aKey(), id }])).toEqual([{ kind: "mine" }]);
    await records.removeFinished(allShards, clock.now(), 10);
    await tokens.confirm([{ key: aKey(), id }]);
    expect(await tokens.claim([{ key: aKey(), id: newId() }])).toEqual([{ kind: "done", id }]);
  });

  it("the spent part of a quota is forgotten", async () => {
    const { tokens, clock } = openAhead();
    await tokens.spend("quota", 5, 5, 1_000);
    clock.set(-days);

    expect(await tokens.spend("quota", 5, 5, 1_000)).toEqual({ isWithin: true, left: 0 });
  });

  it.each([false, true])("an ended message is swept (opened again: %s)", async (again) => {
    const first = openAhead();
    const record = await insertClaimed(first);
    const answered = anAttempt(anAnswer(200), { endedAt: first.clock.now() });
    await first.records.settle([
      settleAttempt(record, answered, { chance: 0, retryDelayMs: undefined }),
    ]);
    first.clock.set(-days);
    if (again) await first.close();
    const { records, clock } = again ? openIn(first.dataDir, { clock: first.clock }) : first;

    const before = clock.now() - limits.finishedKeepMs;
    expect(await records.removeFinished(allShards, before, 10)).toBe(1);
  });

  it("a lane with a rate rings, and grants as many as its rate allows", async () => {
    const { alarms, clock, flowLanes, records, tokens } = openAhead();
    const lane = flowLaneId(aTenant, "key");
    const flow = { key: "key", limits: { rate: 1, periodMs: 1_000 } };
    const [one, other] = [aMessage({ flow }), aMessage({ flow })];
    const insert = [one, other].map((message) => ({ record: accept(message, clock.now()) }));
    await records.insert(insert, "new");
    await tokens.restore(lane, [], undefined);
    const { window } = await tokens.acquire(lane, [one.id], flow.limits);
    await flowLanes.promote(lane, [one.id], clock.now() + limits.grantMs, window);
    const [row] = await flowLanes.rows([lane]);
    await flowLanes.rest(lane, row?.seq ?? 0, clock.now() + 1_000, window);
    clock.set(-days);

    await alarms.ring(allShards, 10);
    await clock.advance(limits.ringAheadMs);
    const { rung } = await alarms.ring(allShards, 10);

    expect(rung).toContainEqual({ kind: "lane", lane });
    expect((await tokens.acquire(lane, [other.id], flow.limits)).granted).toEqual([other.id]);
  });

  it("a claim whose owner has died may be taken over", async () => {
    const opened = openAhead();
    const { message } = await insertClaimed(opened);
    opened.clock.set(-days);

    await opened.alarms.ring(allShards, 10);
    await opened.clock.advance(limits.ringAheadMs);
    const { rung } = await opened.alarms.ring(allShards, 10);

    expect(rung).toMatchObject([{ kind: "hint", hint: { id: message.id } }]);
    expect(await opened.records.claim([message.id], anotherOwner)).toHaveLength(1);
  });

  it("a claim whose owner is there stays its own", async () => {
    const opened = openAhead();
    const { message, epoch } = await insertClaimed(opened);
    opened.clock.set(-days);
    await opened.alarms.ring(allShards, 10);

    expect(await opened.records.renew([{ id: message.id, epoch }])).toEqual([]);
    expect(await opened.records.claim([message.id], anotherOwner)).toEqual([]);
    await opened.clock.advance(limits.leaseMs);
    expect(await opened.records.claim([message.id], anotherOwner)).toHaveLength(1);
  });

  it.each([
    ["a retry", (record: Claimed, now: number) => settleAttempt(record, failed(now), onceMore)],
    ["what was handed back", (record: Claimed, now: number) => giveBack(record, now)],
    ["what was postponed", (record: Claimed, now: number) => postpone(record, now, now + 10_000)],
  ])(
    "%s comes no later than it was to wait, also where it waited over a start",
    async (_, settle) => {
      for (const again of [false, true]) {
        const first = openAhead();
        const record = await insertClaimed(first);
        await first.records.settle([settle(record, first.clock.now())]);
        first.clock.set(-days);
        if (again) await first.close();
        const { alarms, clock } = again ? openIn(first.dataDir, { clock: first.clock }) : first;

        await alarms.ring(allShards, 10);
        await clock.advance(limits.ringAheadMs);
        const { rung } = await alarms.ring(allShards, 10);

        expect([again, rung]).toMatchObject([
          again,
          expect.arrayContaining([
            { kind: "hint", hint: expect.objectContaining({ id: record.message.id }) as unknown },
          ]),
        ]);
      }
    },
  );

  it("a message delayed by its caller stays delayed over a start", async () => {
    const first = openAhead();
    const message = aMessage({ now: first.clock.now(), delayMs: hour });
    await first.records.insert([{ record: accept(message, first.clock.now()) }], "new");
    first.clock.set(-days);
    await first.close();
    const { alarms, clock } = openIn(first.dataDir, { clock: first.clock });

    await alarms.ring(allShards, 10);
    await clock.advance(2 * hour);

    expect((await alarms.ring(allShards, 10)).rung).toEqual([]);
  });

  it("a due message whose hint was lost rings", async () => {
    const { alarms, clock, records } = openAhead();
    const message = aMessage();
    await records.insert([{ record: accept(message, clock.now()) }], "new");
    clock.set(-days);

    await alarms.ring(allShards, 10);
    await clock.advance(limits.ringAheadMs);

    expect((await alarms.ring(allShards, 10)).rung).toMatchObject([
      { kind: "hint", hint: { id: message.id } },
    ]);
  });
});

describe("after the clock was set ahead", () => {
  it("no other process takes a claim over for as long as its owner may take to renew it", async () => {
    const opened = openIn(newDirectory());
    const { message, epoch } = await insertClaimed(opened);
    opened.clock.set(hour);

    expect((await opened.alarms.ring(allShards, 10)).rung).toEqual([]);
    expect(await opened.records.claim([message.id], anotherOwner)).toEqual([]);
    await opened.clock.advance(limits.leaseRenewMs);
    expect(await opened.records.renew([{ id: message.id, epoch }])).toEqual([]);
    await opened.clock.advance(limits.leaseMs - 1);
    expect(await opened.records.claim([message.id], anotherOwner)).toEqual([]);
  });

  it("a claim whose owner has died is taken over a lease later", async () => {
    const opened = openIn(newDirectory());
    const { message } = await insertClaimed(opened);
    opened.clock.set(hour);
    await opened.alarms.ring(allShards, 10);

    await opened.clock.advance(limits.leaseMs);

    expect((await opened.alarms.ring(allShards, 10)).rung).toHaveLength(1);
    expect(await opened.records.claim([message.id], anotherOwner)).toHaveLength(1);
  });
});
