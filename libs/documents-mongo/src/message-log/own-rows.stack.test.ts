/** Rows of the log that are the documents of their records (ADR 205), beside rows in the log's own collection. */
import { describe, expect, it, jest } from "@jest/globals";
import {
  acceptClaimed,
  allShards,
  type AttemptFact,
  limits,
  type Message,
  ownFactOf,
  type Settlement,
} from "@posthaste/domain";
import { type MessageLog } from "@posthaste/ports";
import { anOwner, aTenant, newId } from "@posthaste/testing";
import { describeMessageLog } from "@posthaste/testing/contract";
import { type Document } from "mongodb";
import { type Connection } from "../connection.ts";
import {
  type Harness,
  longEnoughMs,
  openStores,
  settlementOf,
} from "../messages/harness.fixture.ts";
import { createRecordPorts, recordIndexes } from "../messages/record-ports.ts";
import { collectionName, isKnownFormat } from "../messages/stored.ts";
import { freshDatabase, readsNoWholeCollection } from "../opened.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { createEventCounts } from "./counts.ts";
import { createMessageLog, messageLogIndexes } from "./message-log.ts";

jest.setTimeout(120_000);

const page = { limit: 100, order: "earliestFirst" } as const;

describe.each(servers)("$name", ({ name, uri }) => {
  const openAll = freshDatabase(uri, [...messageLogIndexes, ...recordIndexes]);
  const open = openStores(uri);

  for (const isRemoved of [true, false])
    describeMessageLog(
      `${name}, plain deliveries told by records that ${isRemoved ? "were removed" : "stand"}`,
      async () => {
        const { connection: plain, clock } = await openAll();
        const connection = { ...plain, counts: createEventCounts({ ...plain, clock }) };
        return {
          messageLog: toldByRecords(connection, isRemoved),
          ids: { next: newId },
          aSecond: () => clock.advance(1_000),
          close: () => Promise.resolve(),
        };
      },
    );

  readsNoWholeCollection("a log with such rows", openAll);

  it("a plain delivery writes only its record: no separate row, no fact, nothing to write later", async () => {
    const harness = await open();
    const { settled } = await deliver(harness);

    expect(settled).toEqual([{ kind: "ok", left: [] }]);
    expect(await documentsIn(harness, "message_log")).toEqual([]);
    const [stored] = await documentsIn(harness, collectionName);
    expect(stored).toMatchObject({ state: "delivered", toldSweepAt: harness.clock.now() });
    for (const field of ["sweepAt", "owedSweepAt", "owner", "leaseUntil", "wakeAt"])
      expect(stored).not.toHaveProperty(field);
  });

  it("each of many in one statement has its own times and its own answer", async () => {
    const harness = await open();
    const { clock, records } = harness;
    const { ids } = await harness.insertMany(5, { url: "https://a.example/$set?$x=1" });
    const claimed = await harness.claim(ids);
    await clock.advance(500);
    const settlements = claimed.map((record, n) => {
      const settlement = settlementOf(record, clock.now() + n);
      const fact = ownFactOf(settlement);
      if (!fact) throw new Error("it is plain");
      const append = [{ ...fact, answered: { status: 200 + n, bytes: n } }];
      return { ...settlement, append };
    });
    const before = harness.queries.updates();

    await records.settle(settlements);

    expect(harness.queries.updates() - before).toBe(1);
    const { items } = await logOf(harness).list(aTenant, { states: ["DELIVERED"] }, page);
    expect(items.map(({ event, message }) => [message.id, event])).toEqual(
      settlements.map(({ message, append: [fact] }) => [
        message.id,
        { at: fact?.endedAt, attempt: 0, state: "DELIVERED", answered: fact?.answered },
      ]),
    );
  });

  it.each(ways)(
    "of many records some of which are fenced, the others are logged, and counted once%s",
    async (_, through) => {
      const harness = await open();
      const { clock, connection } = harness;
      const counts = createEventCounts({ ...connection, clock });
      const counting = { ...through(connection), counts };
      const { records } = createRecordPorts(counting, counting);
      const claimed = await harness.claim((await harness.insertMany(6)).ids);
      const settlements = claimed.map((record) => settlementOf(record, clock.now()));
      const taken = claimed.slice(1, 3).map(({ message: { id } }) => id);
      await clock.advance(longEnoughMs);
      await harness.claim(taken);

      const settled = await records.settle(settlements);

      const told = claimed.flatMap(({ message: { id } }) => (taken.includes(id) ? [] : id));
      expect(settled).toEqual(
        claimed.map(({ message: { id } }) =>
          taken.includes(id) ? { kind: "fenced" } : { kind: "ok", left: [] },
        ),
      );
      const log = createMessageLog(counting);
      const { items } = await log.list(aTenant, { states: ["DELIVERED"] }, page);
      expect(items.map(({ message }) => message.id).toSorted()).toEqual(told.toSorted());
      const counted = (await log.counts(aTenant, 0, clock.now())).map((each) => each.counts);
      expect(counted).toEqual([{ ACTIVE: 4 }, { DELIVERED: 4 }]);
      await counts.close();
    },
  );

  it("a record that is removed is no record for any build, and its row and its id stay until the log is swept", async () => {
    const harness = await open();
    const { clock, keptBodies, records } = harness;
    const { message, settlement } = await deliver(harness);
    await clock.advance(60_000);

    expect(await records.removeFinished(allShards, clock.now(), 10)).toBe(1);
    expect(await keptBodies.get(aTenant, message.id)).toEqual(message.body);
    expect(await keptBodies.sweep(aTenant, clock.now(), 10)).toBe(1);

    const [row] = await documentsIn(harness, collectionName);
    expect(Object.keys(row ?? {}).toSorted()).toEqual(
      [
        "_id",
        "endedAt",
        "format",
        "message",
        "origin",
        "shard",
        "state",
        "tenant",
        "told",
      ].toSorted(),
    );
    expect(await documentsIn(harness, collectionName, isKnownFormat)).toEqual([]);
    expect(await harness.insert([message])).toEqual(["known"]);
    expect(await records.settle([settlement])).toEqual([{ kind: "fenced" }]);
    expect(await harness.claim([message.id])).toEqual([]);
    expect(await records.removeFinished(allShards, clock.now(), 10)).toBe(0);
    const log = logOf(harness);
    expect((await log.list(aTenant, {}, page)).items).toHaveLength(3);

    expect(await log.sweep(aTenant, clock.now(), 10)).toBe(1);
    expect(await documentsIn(harness, collectionName)).toEqual([]);
  });

  it("a publish that may be repeated leaves a tombstone when its row goes before", async () => {
    const harness = await open();
    const { clock, records } = harness;
    const { message } = await deliver(harness, true);
    await clock.advance(60_000);
    await records.removeFinished(allShards, clock.now(), 10);

    await logOf(harness).sweep(aTenant, clock.now(), 10);

    expect(await harness.insert([message])).toEqual(["known"]);
    expect(await records.get(aTenant, [message.id])).toEqual([undefined]);
    await clock.advance(limits.deduplicationPendingMsMax);
    await records.removeFinished(allShards, clock.now(), 10);
    expect(await documentsIn(harness, collectionName)).toEqual([]);
  });

  it("a watcher of the log is called for a plain delivery", async () => {
    const harness = await open();
    const heard = new Promise<void>((resolve) => {
      const stop = logOf(harness).watch(aTenant, () => {
        stop();
        resolve();
      });
    });
    await deliver(harness);

    let isHeard = false;
    void heard.then(() => (isHeard = true));
    for (let looks = 0; looks < 50 && !isHeard; looks++) {
      await harness.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(isHeard).toBe(true);
  });
});

const logOf = ({ connection }: Pick<Harness, "connection">): MessageLog =>
  createMessageLog(connection);

const documentsIn = (
  { connection }: Harness,
  collection: string,
  filter: Document = {},
): Promise<readonly Document[]> => connection.collection(collection).find(filter).toArray();

async function deliver(harness: Harness, isRepeatable = false) {
  const { clock, ids, records } = harness;
  const [message] = harness.messages(1);
  if (!message) throw new Error("unreachable");
  const record = acceptClaimed(message, anOwner, clock.now());
  const deduplication = [{ key: "key" as never, id: ids.next() }];
  await records.insert([{ record, ...(isRepeatable && { deduplication }) }], "new");
  const settlement = settlementOf(record, clock.now());
  return { message, settlement, settled: await records.settle([settlement]) };
}

/** Returns a log in which records are their own rows where they can be, and all other entries have rows in the collection. */
function toldByRecords(connection: Connection, isRemoved: boolean): MessageLog {
  const log = createMessageLog(connection);
  const { counts } = connection;
  // The log's contract counts appended entries, and no insert.
  const uncounted: Connection = {
    ...connection,
    ...(counts && {
      counts: {
        ...counts,
        add: (tenant, event) => {
          if (event.state !== "CREATED") counts.add(tenant, event);
        },
      },
    }),
  };
  const { records } = createRecordPorts(uncounted, uncounted);
  return {
    ...log,
    append: async (entries) => {
      const tellable = entries.filter(({ message, fact }) => fact && settledBy(message, fact));
      const accepted = tellable.map(({ message }) =>
        acceptClaimed(message, anOwner, message.createdAt),
      );
      await records.insert(
        accepted.map((record) => ({ record })),
        "new",
      );
      await records.settle(
        tellable.flatMap(({ message, fact }) => (fact ? settlementBy(message, fact) : [])),
      );
      if (isRemoved) await records.removeFinished(allShards, Number.MAX_SAFE_INTEGER, 1_000);
      await log.append(entries.filter((entry) => !tellable.includes(entry)));
    },
    sweep: async (...given) => {
      await records.removeFinished(allShards, Number.MAX_SAFE_INTEGER, 1_000);
      return log.sweep(...given);
    },
  };
}

const settledBy = (message: Message, fact: AttemptFact): boolean =>
  ownFactOf(settlementBy(message, fact)) !== undefined;

const settlementBy = (message: Message, fact: AttemptFact): Settlement => ({
  ...{ message, epoch: 1, next: { kind: "delivered", endedAt: fact.endedAt } },
  ...{ retried: fact.attempt, leaseLosses: 0, deferrals: 0, outbox: [] },
  append: fact.ended === "delivered" ? [fact] : [],
});
