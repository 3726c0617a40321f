/** The queues themselves: making, reading, changing, pausing, deleting (F5, F6). */
import { expect } from "@jest/globals";
import { allShards, limits, queueId, shardOf } from "@posthaste/domain";
import { anotherTenant, aTenant } from "../../builders/message.ts";
import {
  clearAll,
  delivered,
  inLine,
  oneAtATime,
  readIn,
  refused,
  ring,
  ringAll,
  settle,
  stateOf,
  tightLane,
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
} from "./harness.ts";

const theName = { tenant: aTenant, name };
const pause = (harness: QueuesHarness) =>
  harness.queues.put({ ...theName, paused: true }, manyQueues);

const wholeList = { after: "", limit: 1_000 } as const;

export function settings(it: QueueGuarantee): void {
  it("an enqueue makes the queue, with a parallelism of one", async (harness) => {
    const before = harness.now();
    await enqueue(harness, 3);

    const queue = await harness.queues.get(aTenant, name);

    expect(queue).toMatchObject({ name, parallelism: 1, paused: false, lag: 3 });
    expect(queue?.createdAt).toBeGreaterThanOrEqual(before);
    expect(queue?.updatedAt).toBe(queue?.createdAt);
  });

  it("a queue has its last settings, and an enqueue does not change them", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: 7, paused: true }, manyQueues);
    await enqueue(harness, 1);
    expect(await harness.queues.get(aTenant, name)).toMatchObject({
      parallelism: 7,
      paused: true,
    });

    await harness.queues.put({ ...theName, parallelism: 2 }, manyQueues);

    expect(await harness.queues.get(aTenant, name)).toMatchObject({
      parallelism: 2,
      paused: true,
    });
  });

  it("queues are listed page by page", async (harness) => {
    for (const each of ["b", "a", "d", "c"])
      await harness.queues.put({ tenant: aTenant, name: each }, manyQueues);
    const page = async (after: string, limit: number) =>
      (await harness.queues.list(aTenant, { after, limit })).map((queue) => queue.name);

    expect(await page("", 2)).toEqual(["a", "b"]);
    expect(await page("b", 2)).toEqual(["c", "d"]);
    expect(await page("bb", 1)).toEqual(["c"]);
    expect(await page("d", 2)).toEqual([]);
  });

  it("queues are listed by name, each tenant's own", async (harness) => {
    for (const each of ["b", "a", "c"])
      await harness.queues.put({ tenant: aTenant, name: each }, manyQueues);
    await harness.queues.put({ tenant: anotherTenant, name: "d" }, manyQueues);

    const names = (await harness.queues.list(aTenant, wholeList)).map((queue) => queue.name);

    expect(names).toEqual(["a", "b", "c"]);
    expect(await harness.queues.get(anotherTenant, "a")).toBeUndefined();
  });

  it("no more queues are made than the bound, and existing ones may be changed", async (harness) => {
    const { queues } = harness;
    expect(await queues.make(aTenant, ["a"], 2)).toEqual([]);
    expect(await queues.put({ tenant: aTenant, name: "b" }, 2)).toEqual({ takenBack: [] });

    expect(await queues.put({ tenant: aTenant, name: "c" }, 2)).toBe("full");
    expect(await queues.make(aTenant, ["c"], 2)).toEqual(["c"]);
    expect(await queues.make(aTenant, ["a"], 2)).toEqual([]);
    expect(await queues.put({ tenant: aTenant, name: "b", parallelism: 5 }, 2)).not.toBe("full");
    expect(await queues.list(aTenant, wholeList)).toHaveLength(2);
    await queues.end(aTenant, "a");
    expect(await queues.make(aTenant, ["c"], 2)).toEqual([]);
  });

  it("of several queues all missing ones are made, or none", async ({ queues }) => {
    await queues.make(aTenant, ["b"], 3);
    await queues.make(anotherTenant, ["x", "y", "z"], 3);

    expect(await queues.make(aTenant, ["a", "b", "c", "d"], 3)).toEqual(["d"]);
    expect(await queues.list(aTenant, wholeList)).toHaveLength(1);
    expect(await queues.make(aTenant, ["a", "b", "c"], 3)).toEqual([]);
    expect(await queues.make(aTenant, ["c", "a", "b"], 1)).toEqual([]);

    const made = await queues.list(aTenant, wholeList);
    expect(made.map(({ name, parallelism }) => [name, parallelism])).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 1],
    ]);
  });

  it("a raised parallelism gives more turns, a lowered one takes none back", async (harness) => {
    await enqueue(harness, 5);
    await admit(harness);
    await harness.queues.put({ ...theName, parallelism: 3 }, manyQueues);
    expect((await ringAll(harness)).lanes).toContain(theQueue);
    expect((await admit(harness)).given).toBe(2);

    await harness.queues.put({ ...theName, parallelism: 1 }, manyQueues);

    expect((await admit(harness)).given).toBe(0);
  });

  it("a paused queue gives no turn and does not ring, until it is resumed", async (harness) => {
    await pause(harness);
    const message = await enqueueOne(harness);
    expect((await admit(harness)).given).toBe(0);
    expect((await ringAll(harness)).lanes).not.toContain(theQueue);

    await harness.queues.resume(aTenant, name);

    expect((await ringAll(harness)).lanes).toContain(theQueue);
    expect(hinted(await admit(harness))).toEqual([message.id]);
  });

  it("a pause takes back the turns of messages that were not attempted", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: 2 }, manyQueues);
    const due = await enqueueOne(harness);
    const held = await enqueueOne(harness, { delayMs: 1_000 });
    await admit(harness);

    await pause(harness);
    await harness.advance(1_000);

    expect(await claimable(harness, [due, held])).toEqual([]);
    await expectQueued(harness, due);
    await expectQueued(harness, held);
    await harness.queues.resume(aTenant, name);
    expect(hinted(await admit(harness))).toEqual([due.id, held.id]);
  });

  it("attempted and claimed messages continue while their queue is paused", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: 2 }, manyQueues);
    const [running, retrying] = await enqueue(harness, 2);
    if (!running || !retrying) throw new Error("unreachable");
    await admit(harness);
    const claimed = await claimWithTurn(harness, running);
    await settle(harness, await claimWithTurn(harness, retrying), refused);

    await pause(harness);
    await harness.advance(10_000);

    expect(await claimable(harness, [retrying])).toHaveLength(1);
    expect((await settle(harness, claimed, delivered)).kind).toBe("ok");
  });

  it("a turn that a pause has not taken back counts after the resume", async (harness) => {
    const [running, next] = await enqueue(harness, 2);
    if (!running || !next) throw new Error("unreachable");
    await admit(harness);
    await claimWithTurn(harness, running);

    await pause(harness);
    await harness.queues.resume(aTenant, name);

    expect((await admit(harness)).given).toBe(0);
    await expectQueued(harness, next);
  });

  it("pauses and looks at once leave no message with a turn that it may lose", async (harness) => {
    const { queues, other = harness } = harness;
    await queues.put({ ...theName, parallelism: 2 }, manyQueues);
    const messages = await enqueue(harness, 6);
    for (let round = 0; round < 5; round++) {
      await Promise.all([other.queues.admit([theQueue]), pause(harness), queues.admit([theQueue])]);
      expect(await claimable(harness, messages)).toEqual([]);
      await Promise.all([queues.resume(aTenant, name), other.queues.admit([theQueue])]);
      await admit(harness);
    }
    // The second look corrects the result of an overtaken look.
    await admit(harness);
    expect(await claimable(harness, messages)).toHaveLength(2);
  });

  it("a resume of a missing queue makes none", async (harness) => {
    await harness.queues.resume(aTenant, name);

    expect(await harness.queues.list(aTenant, wholeList)).toEqual([]);
  });

  it("a deleted queue no longer exists at once, and messages with a turn are cancelled", async (harness) => {
    const messages = await enqueue(harness, 3);
    await admit(harness);

    const canceled = await harness.queues.end(aTenant, name);

    expect(await harness.queues.get(aTenant, name)).toBeUndefined();
    expect(await harness.queues.list(aTenant, wholeList)).toEqual([]);
    expect(canceled).toHaveLength(1);
    expect(canceled[0]).toMatchObject({ kind: "canceled", was: "due" });
    expect(messages[0] && (await stateOf(harness, messages[0]))).toBe("canceled");
    expect(await claimable(harness, messages)).toEqual([]);
  });

  it("a deleted queue's alarm names its other messages until all of them have ended", async (harness) => {
    const messages = await enqueue(harness, 3);
    await harness.queues.end(aTenant, name);

    expect((await ringAll(harness)).lanes).toContain(theQueue);
    const { ended, given } = await admit(harness);

    expect(given).toBe(0);
    expect([...ended].sort()).toEqual(messages.map(({ id }) => id).sort());
    expect(await harness.alarms.next(allShards)).toBeLessThanOrEqual(
      harness.now() + limits.ringAheadMs,
    );
    await harness.records.cancel(aTenant, ended);
    for (const message of messages) await clearAll(harness, message);
    expect((await admit(harness)).ended).toEqual([]);
    expect(await harness.alarms.next(allShards)).toBeUndefined();
  });

  it("an enqueue makes a deleted queue anew, and leaves its own messages alone", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: 5, paused: true }, manyQueues);
    const before = await enqueue(harness, 2);
    await harness.queues.end(aTenant, name);

    const after = await enqueue(harness, 2);

    expect(await harness.queues.get(aTenant, name)).toMatchObject({
      parallelism: 1,
      paused: false,
    });
    const { ended, hints } = await admit(harness);
    expect([...ended].sort()).toEqual(before.map(({ id }) => id).sort());
    expect(hints.map(({ id }) => id)).toEqual([after[0]?.id]);
    expect(await claimable(harness, before)).toEqual([]);
  });

  it("a deletion of a missing queue changes nothing", async (harness) => {
    expect(await harness.queues.end(aTenant, name)).toEqual([]);
    expect(await harness.queues.list(aTenant, wholeList)).toEqual([]);
  });

  it("the lag is the number of messages that have not ended", async (harness) => {
    const [first] = await enqueue(harness, 3);
    if (!first) throw new Error("unreachable");
    await admit(harness);
    const claimed = await claimWithTurn(harness, first);
    expect((await harness.queues.get(aTenant, name))?.lag).toBe(3);

    await settle(harness, claimed, delivered);

    expect((await harness.queues.get(aTenant, name))?.lag).toBe(2);
    expect((await harness.queues.list(aTenant, wholeList)).map(({ lag }) => lag)).toEqual([2]);
  });

  withFlowKey(it);
}

/** A lane of another shard than the queue's. */
const elsewhere = { flow: oneAtATime };

function withFlowKey(it: QueueGuarantee): void {
  it("a message with a turn and a flow key joins the line of the key, with an alarm that wakes the lane once", async (harness) => {
    const { flowLanes } = harness;
    const message = await enqueueOne(harness, elsewhere);
    expect(message.shard).toBe(shardOf(theQueue));
    expect(message.shard).not.toBe(shardOf(tightLane));
    expect(await inLine(harness)).toEqual([]);

    const admitted = await admit(harness);

    expect(admitted).toMatchObject({ given: 1, hints: [], flows: [tightLane] });
    expect(await inLine(harness)).toEqual([message.id]);
    const [lane] = await flowLanes.rows([tightLane]);
    expect(lane?.wakeAt).toBeLessThanOrEqual(harness.now());
    expect((await readIn(harness, message, "waiting")).wakeAt).toBeGreaterThan(harness.now());
    await flowLanes.rest(tightLane, lane?.seq ?? 0, undefined, undefined);
    await harness.advance(limits.ringAheadMs);
    expect((await ring(harness, [message.shard], 100)).lanes).toContain(tightLane);
    expect((await readIn(harness, message, "waiting")).wakeAt).toBeUndefined();
  });

  it("the ring that puts a record into the line of another shard's lane wakes that lane", async (harness) => {
    const message = await enqueueOne(harness, { ...elsewhere, delayMs: 1_000 });
    await admit(harness);
    await harness.advance(1_000);

    const { lanes } = await ring(harness, [message.shard], 100);

    expect(lanes).toContain(tightLane);
    expect((await readIn(harness, message, "waiting")).wakeAt).toBeGreaterThan(harness.now());
  });

  it("a pause takes a message out of the line of its flow key", async (harness) => {
    const { id } = await enqueueOne(harness, elsewhere);
    await admit(harness);

    expect(await pause(harness)).toEqual({ takenBack: [{ id, flow: tightLane }] });
    expect(await inLine(harness)).toEqual([]);
  });

  it("two queues of one tenant share nothing but the flow key", async (harness) => {
    const other = queueId(aTenant, "other");
    const mine = await enqueueOne(harness, elsewhere);
    const theirs = await enqueueOne(harness, { ...elsewhere, queue: other });

    await harness.queues.admit([theQueue, other]);

    expect([...(await inLine(harness))].sort()).toEqual([mine.id, theirs.id].sort());
  });
}
