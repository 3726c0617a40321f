/** Turns: which message gets one, and when it is over (F1 to F4, F7). */
import { expect } from "@jest/globals";
import {
  accept,
  allShards,
  callbackMessage,
  type CallbackItem,
  limits,
  ownFormat,
} from "@posthaste/domain";
import { aCallbackPlan, anOwner, aPolicy, aTenant } from "../../builders/message.ts";
import {
  claimOne,
  clearAll,
  delivered,
  read,
  readIn,
  refused,
  ring,
  ringAll,
  settle,
  stateOf,
} from "../records/harness.ts";
import {
  admit,
  claimable,
  claimWithTurn,
  enqueue,
  enqueueOne,
  expectQueued,
  hinted,
  manyQueues,
  name,
  type QueueGuarantee,
  type QueuesHarness,
  theQueue,
  withTurn,
} from "./harness.ts";

export function turns(it: QueueGuarantee): void {
  it("a message in a queue cannot be claimed before it has a turn", async (harness) => {
    const messages = await enqueue(harness, 2);

    expect(await claimable(harness, messages)).toEqual([]);
    for (const message of messages) await expectQueued(harness, message);
  });

  it("turns go to the first in line, in the order of their inserts", async (harness) => {
    const first = await enqueue(harness, 2);
    const second = await enqueue(harness, 2);
    await harness.queues.put({ tenant: aTenant, name, parallelism: 3 }, manyQueues);

    const admitted = await admit(harness);

    const [a, b, c, d] = [...first, ...second];
    expect(hinted(admitted)).toEqual([a?.id, b?.id, c?.id]);
    expect(admitted).toMatchObject({ given: 3, queue: theQueue, tenant: aTenant, ended: [] });
    expect(await withTurn(harness, [...first, ...second])).toHaveLength(3);
    expect(d && (await stateOf(harness, d))).toBe("queued");
  });

  it("a queue with a message above this build's format is left alone", async (harness) => {
    const messages = await enqueue(harness, 1);
    const newer = await enqueue(harness, 1, { format: ownFormat + 1 });
    await harness.advance(limits.ringAheadMs);

    expect(await harness.queues.admit([theQueue])).toEqual([]);
    expect((await ring(harness, allShards, 100, ["queue"])).lanes).toEqual([]);
    expect(await claimable(harness, [...messages, ...newer])).toEqual([]);
  });

  it("a message with a turn is claimed with it, and the next message has none", async (harness) => {
    const messages = await enqueue(harness, 2);
    await admit(harness);

    const claimed = await claimable(harness, messages);

    expect(claimed.map(({ message }) => message.id)).toEqual([messages[0]?.id]);
    expect((await admit(harness)).given).toBe(0);
  });

  it("the first message that gets a turn is claimed with it for the deliverer that looks, and no other message", async (harness) => {
    const body = new TextEncoder().encode("whole");
    const [first, second, third] = await enqueue(harness, 3, { body });
    if (!first || !second || !third) throw new Error("unreachable");
    await harness.queues.put({ tenant: aTenant, name, parallelism: 2 }, manyQueues);

    const { claimed, given, hints } = await admit(harness, theQueue, ending);

    expect(claimed).toEqual(await read(harness, first));
    expect(claimed?.state).toMatchObject({ kind: "claimed", owner: anOwner });
    expect(claimed?.message.body).toEqual(body);
    expect({ given, hints: hints.map(({ id }) => id) }).toEqual({ given: 2, hints: [second.id] });
    await expectQueued(harness, third);
    if (claimed) await settle(harness, claimed, delivered);
    expect(await stateOf(harness, first)).toBe("delivered");
  });

  it("the lease of a claim with its turn is renewed, and ends as any lease", async (harness) => {
    const first = await enqueueOne(harness);
    const { claimed } = await admit(harness, theQueue, ending);
    if (!claimed) throw new Error("unreachable");
    expect(await harness.records.renew([{ id: first.id, epoch: claimed.epoch }])).toEqual([]);

    await harness.advance(limits.leaseMs + 1);

    expect((await claimOne(harness, first.id)).epoch).toBe(claimed.epoch + 1);
  });

  it("neither a delayed message nor one with a heavy body or a flow key is claimed with its turn", async (harness) => {
    const body = new Uint8Array(limits.lightBytesMax + 1);
    const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
    for (const overrides of [{ delayMs: 60_000 }, { body }, { flow }]) {
      const message = await enqueueOne(harness, overrides);

      const admitted = await admit(harness, theQueue, ending);

      expect(admitted.given).toBe(1);
      expect(admitted.claimed).toBeUndefined();
      await harness.records.cancel(aTenant, [message.id]);
    }
  });

  it("the end of a message ends its turn, and the next look gives another", async (harness) => {
    const [first, second] = await enqueue(harness, 2);
    await admit(harness);
    if (!first || !second) throw new Error("unreachable");
    await settle(harness, await claimWithTurn(harness, first), delivered);
    await clearAll(harness, first);

    expect(hinted(await admit(harness))).toEqual([second.id]);
  });

  it("a retry keeps the turn, however long it waits", async (harness) => {
    const [first, second] = await enqueue(harness, 2);
    await admit(harness);
    if (!first || !second) throw new Error("unreachable");
    await settle(harness, await claimWithTurn(harness, first), refused);

    expect((await admit(harness)).given).toBe(0);
    expect(await stateOf(harness, first)).toBe("held");
    await expectQueued(harness, second);
  });

  it("a delayed message keeps its place: it has the turn while it waits for its time", async (harness) => {
    const delayed = await enqueueOne(harness, { delayMs: 60_000 });
    const next = await enqueueOne(harness);

    const admitted = await admit(harness);

    expect(admitted).toMatchObject({ given: 1, hints: [], heldUntil: delayed.notBefore });
    expect((await readIn(harness, delayed, "held")).state.dueAt).toBe(delayed.notBefore);
    expect(await claimable(harness, [delayed, next])).toEqual([]);
    await harness.advance(60_000);
    expect(await claimable(harness, [delayed, next])).toHaveLength(1);
  });

  it("two looks at once never give one turn too many", async (harness) => {
    const { queues, other = harness } = harness;
    await harness.queues.put({ tenant: aTenant, name, parallelism: 3 }, manyQueues);
    const messages = await enqueue(harness, 12);

    for (let round = 0; round < 4; round++) {
      await Promise.all([
        queues.admit([theQueue]),
        other.queues.admit([theQueue]),
        queues.admit([theQueue, theQueue]),
      ]);
      await admit(harness);
      const having = await withTurn(harness, messages);
      expect(having).toHaveLength(3);
      expect(having).toEqual(messages.slice(round * 3, round * 3 + 3).map(({ id }) => id));
      for (const id of having) await settle(harness, await claimOne(harness, id), delivered);
    }
  });

  it("the turn lasts until the callback has been made", async (harness) => {
    const { source } = await deliveredWithCallback(harness);

    expect((await read(harness, source)).outbox.map(({ kind }) => kind)).toContain("callback");
    expect((await admit(harness)).given).toBe(0);
  });

  it("the turn lasts until the callback has ended", async (harness) => {
    const { source, next, callback } = await deliveredWithCallback(harness);
    await harness.records.insert([{ record: accept(callback, harness.now()) }], "new");
    await clearAll(harness, source);
    expect((await admit(harness)).given).toBe(0);

    await settle(harness, await claimOne(harness, callback.id), delivered);

    expect(hinted(await admit(harness))).toEqual([next.id]);
  });

  it("a callback that is cancelled keeps no turn", async (harness) => {
    const { source, next, callback } = await deliveredWithCallback(harness);
    await harness.records.insert([{ record: accept(callback, harness.now()) }], "new");
    await clearAll(harness, source);
    await harness.records.cancel(aTenant, [callback.id]);

    expect(hinted(await admit(harness))).toEqual([next.id]);
  });

  it("a callback that retries keeps the turn", async (harness) => {
    const { source, callback } = await deliveredWithCallback(harness);
    await harness.records.insert([{ record: accept(callback, harness.now()) }], "new");
    await clearAll(harness, source);
    await settle(harness, await claimOne(harness, callback.id), refused);

    expect((await admit(harness)).given).toBe(0);
  });

  it("a message cancelled in line is skipped", async (harness) => {
    const [first, second] = await enqueue(harness, 2);
    if (!first || !second) throw new Error("unreachable");
    await harness.records.cancel(aTenant, [first.id]);

    expect(hinted(await admit(harness))).toEqual([second.id]);
  });

  it("a message that is cancelled before its claim leaves its turn", async (harness) => {
    const [first, second] = await enqueue(harness, 2);
    if (!first || !second) throw new Error("unreachable");
    await admit(harness);
    await harness.records.cancel(aTenant, [first.id]);

    expect(hinted(await admit(harness))).toEqual([second.id]);
  });

  it("the turn of a call that a cancel cuts short lasts until its lease is past", async (harness) => {
    const { second } = await canceledWhileRunning(harness);
    expect((await admit(harness)).given).toBe(0);

    await harness.advance(limits.leaseMs);

    expect(hinted(await admit(harness))).toEqual([second.id]);
  });

  it("the turn of a call that a cancel cuts short ends when the call is known to have ended", async (harness) => {
    const { first, second } = await canceledWhileRunning(harness);

    await harness.queues.callsEnded(aTenant, [first.id]);

    expect(hinted(await admit(harness))).toEqual([second.id]);
  });

  it("every end of a turn wakes its queue, and a full queue is looked at in time", async (harness) => {
    const [first] = await enqueue(harness, 2);
    if (!first) throw new Error("unreachable");
    expect(await harness.alarms.next(allShards)).toBeLessThanOrEqual(harness.now());
    expect((await ringAll(harness)).lanes).toContain(theQueue);
    const claimed = await (await admit(harness), claimWithTurn(harness, first));
    const full = await harness.alarms.next([first.shard]);
    expect(full).toBeGreaterThan(harness.now());
    expect(full).toBeLessThanOrEqual(harness.now() + limits.ringAheadMs);

    await settle(harness, claimed, delivered);

    expect(await harness.alarms.next([first.shard])).toBeLessThanOrEqual(harness.now());
  });

  it("an empty queue has no alarm", async (harness) => {
    const message = await enqueueOne(harness);
    await admit(harness);
    await settle(harness, await claimWithTurn(harness, message), delivered);
    await clearAll(harness, message);

    await admit(harness);

    expect(await harness.alarms.next([message.shard])).toBeUndefined();
  });

  it("the time of the oldest turn is known while the turn lasts", async (harness) => {
    const { queues } = harness;
    expect(await queues.oldestTurn()).toBeUndefined();
    await queues.put({ tenant: aTenant, name, parallelism: 2 }, manyQueues);
    const [first] = await enqueue(harness, 1);
    if (!first) throw new Error("unreachable");
    const before = harness.now();
    await admit(harness);
    const given = await queues.oldestTurn();
    expect(given).toBeGreaterThanOrEqual(before);
    expect(given).toBeLessThanOrEqual(harness.now());
    const claimed = await claimWithTurn(harness, first);

    await harness.advance(agedMs);
    const [second] = await enqueue(harness, 1);
    if (!second) throw new Error("unreachable");
    await admit(harness);

    expect(await queues.oldestTurn()).toBe(given);
    await settle(harness, claimed, delivered);
    await clearAll(harness, first);
    await admit(harness);
    expect(await queues.oldestTurn()).toBeGreaterThanOrEqual(before + agedMs);
    await settle(harness, await claimWithTurn(harness, second), delivered);
    await clearAll(harness, second);
    await admit(harness);
    expect(await queues.oldestTurn()).toBeUndefined();
  });

  it("the turns of a paused queue are not among the oldest", async (harness) => {
    const { queues } = harness;
    const message = await enqueueOne(harness);
    await admit(harness);
    const given = await queues.oldestTurn();
    await claimWithTurn(harness, message);

    await queues.put({ tenant: aTenant, name, paused: true }, manyQueues);
    expect(await queues.oldestTurn()).toBeUndefined();
    await queues.resume(aTenant, name);

    expect(await queues.oldestTurn()).toBe(given);
  });

  it("a missing queue gives no turn", async (harness) => {
    expect(await harness.queues.admit([theQueue])).toEqual([]);
  });

  it("a repeated insert takes no second place", async (harness) => {
    const message = await enqueueOne(harness);
    const record = accept(message, harness.now());

    expect(await harness.records.insert([{ record }], "new")).toEqual(["known"]);
    expect((await harness.queues.get(aTenant, name))?.lag).toBe(1);
  });
}

const ending = { owner: anOwner, written: Promise.resolve() };

const agedMs = 1_000;

async function canceledWhileRunning(harness: QueuesHarness) {
  const [first, second] = await enqueue(harness, 2);
  if (!first || !second) throw new Error("unreachable");
  await admit(harness);
  await claimWithTurn(harness, first);
  await harness.records.cancel(aTenant, [first.id]);
  return { first, second };
}

async function deliveredWithCallback(harness: QueuesHarness) {
  const policy = aPolicy({ callback: aCallbackPlan() });
  const source = await enqueueOne(harness, { policy });
  const next = await enqueueOne(harness);
  await admit(harness);
  await settle(harness, await claimWithTurn(harness, source), delivered);
  const item: CallbackItem = { kind: "callback", attempt: 0, endedAt: harness.now(), retried: 0 };
  const callback = callbackMessage(source, item);
  if (!callback) throw new Error("unreachable: a callback was asked for");
  return { source, next, callback };
}
