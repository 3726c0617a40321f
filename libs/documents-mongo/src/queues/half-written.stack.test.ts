/** Interruptions between two writes of a look at a queue: the process dies, or a pause or a deletion comes. */
import { describe, expect, it, jest } from "@jest/globals";
import { accept, limits, type Message, queueId } from "@posthaste/domain";
import { type RecordPorts } from "@posthaste/ports";
import { aCallbackPlan, aFanOut, aMessage, anOwner, aPolicy, aTenant } from "@posthaste/testing";
import { MongoNetworkError } from "mongodb";
import { intercepted } from "../intercepted.fixture.ts";
import { type Connection } from "../connection.ts";
import { createIds } from "../ids.ts";
import { settlementOf } from "../messages/harness.fixture.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { freshDatabase } from "../opened.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { type StoredQueue } from "./stored-queue.ts";

jest.setTimeout(60_000);

const name = "orders";
const queue = queueId(aTenant, name);
const max = 10;
const ending = { owner: anOwner, written: Promise.resolve() };

describe.each(servers)("$name", ({ uri }) => {
  const open = freshDatabase(uri, recordIndexes);

  async function opened() {
    const { connection, clock } = await open();
    const ids = createIds(connection);
    const ports = createRecordPorts(connection, connection);
    const enqueue = async (count: number, policy = aPolicy()): Promise<readonly Message[]> => {
      const messages = Array.from({ length: count }, () =>
        aMessage({ id: ids.next(), now: clock.now(), queue, policy }),
      );
      await ports.records.insert(
        messages.map((message) => ({ record: accept(message, clock.now()) })),
        "new",
      );
      return messages;
    };
    const rows = connection.collection<StoredQueue>("queues");
    return { connection, clock, ports, enqueue, rows };
  }

  const claimable = async ({ records }: RecordPorts, messages: readonly Message[]) =>
    (
      await records.claim(
        messages.map(({ id }) => id),
        anOwner,
      )
    ).map(({ message }) => message.id);

  it("a turn whose record is still queued is made good by the next look, and passed by none", async () => {
    const { ports, enqueue, rows } = await opened();
    const [first, second] = await enqueue(2);
    if (!first || !second) throw new Error("unreachable");
    await rows.updateOne(
      { _id: queue },
      { $set: { turns: [second.id] }, $inc: { turnsVersion: 1 } },
    );

    const [admitted] = await ports.queues.admit([queue]);

    expect(admitted?.hints.map(({ id }) => id)).toEqual([second.id]);
    expect(await claimable(ports, [first, second])).toEqual([second.id]);
  });

  it("a record whose queue's row was not written makes the queue, by an alarm of its own", async () => {
    const { clock, ports, enqueue, rows } = await opened();
    const messages = await enqueue(1);
    await rows.deleteOne({ _id: queue });
    await clock.advance(limits.ringAheadMs);

    const { rung } = await ports.alarms.ring([messages[0]?.shard ?? 0], 100);

    expect(rung).toContainEqual({ kind: "lane", lane: queue });
    await ports.queues.admit([queue]);
    expect(await claimable(ports, messages)).toHaveLength(1);
  });

  it("a claim with a turn is the look's that made it, also after a lost reply", async () => {
    const { connection, ports, enqueue } = await opened();
    const [message] = await enqueue(1);
    const lost = () => Promise.reject(new MongoNetworkError("the reply was lost"));
    const slow = interrupted(connection, "messages", "bulkWrite", lost, { when: "after" });

    const [admitted] = await createRecordPorts(slow, slow).queues.admit([queue], ending);

    expect(admitted?.claimed?.message.id).toBe(message?.id);
    expect(await claimable(ports, message ? [message] : [])).toEqual([]);
  });

  it("a claim with a turn that another look was faster to make is not this look's", async () => {
    const { connection, ports, enqueue } = await opened();
    const [message] = await enqueue(1);
    const slow = interrupted(connection, "messages", "bulkWrite", async () => {
      const [other] = await ports.queues.admit([queue], ending);
      expect(other?.claimed?.message.id).toBe(message?.id);
    });

    const [late] = await createRecordPorts(slow, slow).queues.admit([queue], ending);

    expect(late?.claimed).toBeUndefined();
  });

  it("a look that comes before the end of a turn looks again after it", async () => {
    const { clock, connection, ports, enqueue } = await opened();
    const [first, second] = await enqueue(2);
    await ports.queues.admit([queue]);
    const [claimed] = await ports.records.claim(first ? [first.id] : [], anOwner);
    if (!claimed) throw new Error("unreachable");
    const { promise: written, resolve } = Promise.withResolvers<void>();
    // Comes after all reads of the look.
    const slow = interrupted(connection, "queues", "updateOne", async () => {
      await ports.records.settle([settlementOf(claimed, clock.now())]);
      resolve();
    });

    const [admitted] = await createRecordPorts(slow, slow).queues.admit([queue], {
      ...{ owner: anOwner, written },
    });

    expect(admitted?.claimed?.message.id).toBe(second?.id);
  });

  const changes: readonly [string, (ports: RecordPorts) => Promise<unknown>][] = [
    ["a pause", ({ queues }) => queues.put({ tenant: aTenant, name, paused: true }, max)],
    ["a deletion", ({ queues }) => queues.end(aTenant, name)],
  ];
  const steps: readonly [string, string, string][] = [
    ["before the turns are written", "queues", "findOneAndUpdate"],
    ["before the records are moved", "messages", "bulkWrite"],
  ];
  const cases = changes.flatMap(([what, change]) =>
    steps.map(([when, collection, call]) => ({ what, when, change, collection, call })),
  );

  it.each(cases)(
    "$what that comes $when leaves nothing to be claimed",
    async ({ change, collection, call }) => {
      const { connection, ports, enqueue } = await opened();
      const messages = await enqueue(3);
      const slow = interrupted(connection, collection, call, () => change(ports));

      const [admitted] = await createRecordPorts(slow, slow).queues.admit([queue], ending);

      expect(admitted?.claimed).toBeUndefined();
      expect(await claimable(ports, messages)).toEqual([]);
    },
  );

  it("a queue made anew right behind the mark of its deletion stays, and messages with a turn in the old one are cancelled", async () => {
    const { connection, ports, enqueue } = await opened();
    const old = await enqueue(1);
    await ports.queues.admit([queue]);
    let anew: readonly Message[] = [];
    const followed = interrupted(
      connection,
      "queues",
      "updateOne",
      async () => void (anew = await enqueue(1)),
      { when: "after" },
    );

    const canceled = await createRecordPorts(followed, followed).queues.end(aTenant, name);

    expect(canceled).toMatchObject([{ kind: "canceled", message: { id: old[0]?.id } }]);
    expect(await ports.queues.get(aTenant, name)).toMatchObject({ lag: 1 });
    await ports.queues.admit([queue]);
    expect(await claimable(ports, [...old, ...anew])).toEqual(anew.map(({ id }) => id));
  });

  it("a pause and a resume that come before the records are moved leave as many turns as there may be", async () => {
    const { connection, ports, enqueue } = await opened();
    const messages = await enqueue(3);
    const slow = interrupted(connection, "messages", "bulkWrite", async () => {
      await ports.queues.put({ tenant: aTenant, name, paused: true }, max);
      await ports.queues.resume(aTenant, name);
    });

    await createRecordPorts(slow, slow).queues.admit([queue]);
    await ports.queues.admit([queue]);
    await ports.queues.admit([queue]);

    expect(await claimable(ports, messages)).toEqual([messages[0]?.id]);
  });

  it("a message published after a group publish does not overtake it, though both come while the queue is examined", async () => {
    const { clock, connection, ports, enqueue } = await opened();
    await ports.queues.put({ tenant: aTenant, name, parallelism: 9 }, max);
    const [first] = await enqueue(1);
    if (!first) throw new Error("unreachable");
    await ports.queues.admit([queue]);
    const fanOut = aFanOut({
      id: createIds(connection).next(),
      now: clock.now(),
      endpointCount: 2,
      command: { queue: name },
    });
    let after: readonly Message[] = [];
    const slow = interrupted(
      connection,
      "messages",
      "find",
      async () => {
        await ports.fanOuts.insert(fanOut, "new");
        after = await enqueue(1);
      },
      { nth: 1 },
    );
    await enqueue(1);

    await createRecordPorts(slow, slow).queues.admit([queue]);
    await ports.queues.admit([queue]);

    expect(after).toHaveLength(1);
    expect(await claimable(ports, after)).toEqual([]);
  });

  it("a look that another look overtakes leaves the queue the alarm that comes with its turns", async () => {
    const { connection, ports, enqueue, rows } = await opened();
    await enqueue(1);
    // Comes between the reading of the row and that of the line, which is then empty.
    const slow = interrupted(connection, "messages", "find", () => ports.queues.admit([queue]));

    await createRecordPorts(slow, slow).queues.admit([queue]);

    const row = await rows.findOne({ _id: queue });
    expect(row?.turns).toHaveLength(1);
    expect(row?.wakeAt).toBeDefined();
  });

  it("an arrival while turns are written keeps the alarm that it has set, and the queue is looked at again", async () => {
    const { clock, connection, ports, enqueue, rows } = await opened();
    await ports.queues.put({ tenant: aTenant, name, parallelism: 9 }, max);
    await enqueue(1);
    const slow = interrupted(connection, "queues", "findOneAndUpdate", () => enqueue(1));

    const [admitted] = await createRecordPorts(slow, slow).queues.admit([queue]);

    expect(admitted).toMatchObject({ given: 1, more: true });
    expect((await rows.findOne({ _id: queue }))?.wakeAt).toBeLessThanOrEqual(clock.now());
  });

  it("a callback that is made while its queue is looked at keeps the turn", async () => {
    const { connection, ports, enqueue } = await opened();
    const [source, next] = await enqueue(2, aPolicy({ callback: aCallbackPlan() }));
    if (!source || !next) throw new Error("unreachable");
    await ports.queues.admit([queue]);
    await ports.records.cancel(aTenant, [source.id]);
    const turnOf = { queue, id: source.id };
    const callback = aMessage({ id: createIds(connection).next(), turnOf });
    // Comes between the reading of the line and that of the callbacks.
    const slow = interrupted(
      connection,
      "messages",
      "find",
      () => ports.records.insert([{ record: accept(callback, callback.createdAt) }], "new"),
      { nth: 2 },
    );

    await createRecordPorts(slow, slow).queues.admit([queue]);

    expect(await claimable(ports, [next])).toEqual([]);
  });
});

type Cursor = {
  readonly sort: (by: unknown) => Cursor;
  readonly limit: (count: number) => Cursor;
  readonly toArray: () => Promise<unknown>;
};

const cursor = (open: () => Promise<Cursor>): Cursor => ({
  sort: (by) => cursor(() => open().then((opened) => opened.sort(by))),
  limit: (count) => cursor(() => open().then((opened) => opened.limit(count))),
  toArray: () => open().then((opened) => opened.toArray()),
});

/** Returns a store with another event before or after the `nth` call of this kind, counted from 0. */
function interrupted(
  connection: Connection,
  name: string,
  call: string,
  overtake: () => Promise<unknown>,
  { nth = 0, when = "before" }: { readonly nth?: number; readonly when?: "before" | "after" } = {},
): Connection {
  let calls = 0;
  return intercepted(connection, [name], ({ name: called, go }) => {
    if (called !== call || calls++ !== nth) return go();
    if (when === "after") return Promise.resolve(go()).then((done) => overtake().then(() => done));
    if (call !== "find") return overtake().then(go);
    return cursor(() => overtake().then(() => go() as Cursor));
  });
}
