/**
 * Publishes to URL groups in a queue: the children have places from the publish on, and no message passes a child
 * that is not made yet (F1).
 */
import { expect } from "@jest/globals";
import { accept, allShards, childOf, type FanOut, limits, type Message } from "@posthaste/domain";
import { aFanOut } from "../../builders/fan-out.ts";
import { aTenant } from "../../builders/message.ts";
import { anEndpoint } from "../../builders/url-group.ts";
import { ring, ringAll } from "../records/harness.ts";
import {
  admit,
  enqueueOne,
  hinted,
  manyQueues,
  name,
  type QueueGuarantee,
  type QueuesHarness,
  theQueue,
} from "./harness.ts";

const theName = { tenant: aTenant, name };
const many = 10;

async function publishToGroup(harness: QueuesHarness, endpointCount: number): Promise<FanOut> {
  const fanOut = aFanOut({
    id: harness.ids.next(),
    now: harness.now(),
    endpointCount,
    command: { queue: name },
  });
  expect(await harness.fanOuts.insert(fanOut, "new")).toBe("inserted");
  return fanOut;
}

/** Makes the children from `from` on, in the order of the endpoints. */
async function makeChildren(
  harness: QueuesHarness,
  fanOut: FanOut,
  [from, upTo]: readonly [number, number],
): Promise<readonly Message[]> {
  const children = Array.from({ length: upTo - from }, (_, i) =>
    childOf(fanOut, anEndpoint(from + i), from + i),
  );
  const now = harness.now();
  await harness.records.insert(
    children.map((child) => ({ record: accept(child, now) })),
    "new",
  );
  return children;
}

const expand = async (harness: QueuesHarness, fanOut: FanOut): Promise<readonly Message[]> => {
  const children = await makeChildren(harness, fanOut, [0, fanOut.endpointCount]);
  expect(await harness.fanOuts.advance(fanOut.id, 0, fanOut.endpointCount, true)).toBe(true);
  return children;
};

const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id);

export function groups(it: QueueGuarantee): void {
  it("the children of a group publish have the place of its acknowledgement, however late they are made", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: many }, manyQueues);
    const before = await enqueueOne(harness);
    const fanOut = await publishToGroup(harness, 3);
    const after = await enqueueOne(harness);

    const children = await expand(harness, fanOut);

    expect(hinted(await admit(harness))).toEqual(idsOf([before, ...children, after]));
  });

  it("messages behind a child have no turn before the child is made, and messages before it have", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: many }, manyQueues);
    const before = await enqueueOne(harness);
    const fanOut = await publishToGroup(harness, 4);
    const after = await enqueueOne(harness);

    expect(hinted(await admit(harness))).toEqual([before.id]);
    const first = await makeChildren(harness, fanOut, [0, 2]);
    expect(await harness.fanOuts.advance(fanOut.id, 0, 2, false)).toBe(true);
    expect(hinted(await admit(harness))).toEqual(idsOf(first));
    const rest = await makeChildren(harness, fanOut, [2, 4]);
    expect(hinted(await admit(harness))).toEqual([]);
    expect(await harness.fanOuts.advance(fanOut.id, 2, 4, true)).toBe(true);
    expect(hinted(await admit(harness))).toEqual(idsOf([...rest, after]));
  });

  it("of two group publishes the first has the lower places", async (harness) => {
    await harness.queues.put({ ...theName, parallelism: many }, manyQueues);
    const [first, second] = [await publishToGroup(harness, 2), await publishToGroup(harness, 2)];

    const ofSecond = await expand(harness, second);
    expect(hinted(await admit(harness))).toEqual([]);
    const ofFirst = await expand(harness, first);

    expect(hinted(await admit(harness))).toEqual(idsOf([...ofFirst, ...ofSecond]));
  });

  it("each step of an expansion wakes the queue", async (harness) => {
    const fanOut = await publishToGroup(harness, 2);
    await admit(harness);
    await ringAll(harness);

    await harness.fanOuts.advance(fanOut.id, 0, 2, true);

    const { lanes } = await ring(harness, allShards, 10);
    expect(lanes).toEqual([theQueue]);
  });

  it("a queue whose line ends at a fan-out looks again by itself", async (harness) => {
    await publishToGroup(harness, 2);
    await admit(harness);
    await ringAll(harness);
    await harness.advance(limits.ringAheadMs);

    expect((await ringAll(harness)).lanes).toContain(theQueue);
  });

  it("a publish to a group makes the queue", async (harness) => {
    await publishToGroup(harness, 2);

    expect(await harness.queues.get(aTenant, name)).toMatchObject({ parallelism: 1, lag: 0 });
  });

  it("children that are made after their queue was deleted have no turn, are named as ended, and do not make the queue anew", async (harness) => {
    const fanOut = await publishToGroup(harness, 2);
    await harness.queues.end(aTenant, name);

    const children = await expand(harness, fanOut);
    const admitted = await admit(harness);

    expect(admitted).toMatchObject({ hints: [], given: 0 });
    expect(admitted.ended.toSorted()).toEqual(idsOf(children));
    expect(await harness.queues.get(aTenant, name)).toBeUndefined();
  });

  it("a fan-out of a deleted queue holds up no message of the queue made anew", async (harness) => {
    await publishToGroup(harness, 2);
    await harness.queues.end(aTenant, name);
    const next = await enqueueOne(harness);

    expect(hinted(await admit(harness))).toEqual([next.id]);
  });
}
