/** Tests which rows stay in the file, for how long, and which are shared. Reads the tables, since no port shows this. */
import { describe, expect, it } from "@jest/globals";
import {
  accept,
  allShards,
  childOf,
  flowLaneId,
  limits,
  messageId,
  type Message,
  settleAttempt,
  groupChunkId,
} from "@posthaste/domain";
import {
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  aPolicy,
  aTenant,
  aFanOut,
  type MessageOverrides,
  newId,
  virtualClock,
} from "@posthaste/testing";
import { copyOf, countRows, newDirectory, openIn, type Opened } from "./opened.fixture.ts";

const once = { timeoutMs: 1_000, retriesMax: 0, labels: [] };

const insert = async ({ records, clock }: Opened, given: readonly Message[]) => {
  await records.insert(
    given.map((message) => ({ record: accept(message, clock.now()) })),
    "new",
  );
};

async function attempt(opened: Opened, message: Message, status: number): Promise<void> {
  const { records, clock } = opened;
  const [record] = await records.claim([message.id], anOwner);
  if (!record) throw new Error(`${message.id} could not be claimed`);
  const answered = anAttempt(anAnswer(status, { body: "said" }), { endedAt: clock.now() });
  await records.settle([settleAttempt(record, answered, { chance: 0, retryDelayMs: 1_000 })]);
}

const sweepAll = async ({ records, clock }: Opened): Promise<number> =>
  records.removeFinished(allShards, clock.now() + 1, 10_000, () => false);

const rows = (opened: Opened, ...tables: readonly string[]) =>
  Object.fromEntries(tables.map((table) => [table, countRows(opened.dataDir, table)]));

describe("a message that was delivered", () => {
  it("leaves its row as its log, without its body, and that goes with the log", async () => {
    const opened = openIn(newDirectory());
    const message = aMessage();
    await insert(opened, [message]);
    await attempt(opened, message, 200);

    expect(await sweepAll(opened)).toBe(1);
    expect(rows(opened, "messages", "bodies", "answers", "configurations", "events")).toEqual({
      messages: 1,
      bodies: 0,
      answers: 0,
      configurations: 0,
      events: 0,
    });
    expect(await opened.records.get(aTenant, [message.id])).toEqual([undefined]);
    expect(
      (await opened.messageLog.list(aTenant, {}, { limit: 10, order: "earliestFirst" })).items,
    ).toHaveLength(3);

    expect(await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10)).toBe(1);
    expect(rows(opened, "messages", "terms")).toEqual({ messages: 0, terms: 0 });
  });

  it.each([
    ["at once", 0],
    ["an hour after its publish", 3_600_000],
  ])("leaves nothing when its log is swept first: %s", async (_, afterMs) => {
    const opened = openIn(newDirectory());
    const message = aMessage({ policy: aPolicy({ labels: ["some"] }) });
    await insert(opened, [message]);
    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);
    await opened.clock.advance(afterMs);
    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);
    await attempt(opened, message, 200);

    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);
    expect(rows(opened, "messages")).toEqual({ messages: 1 });
    await sweepAll(opened);
    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);
    expect(rows(opened, "terms", "events")).toEqual({ terms: 0, events: 0 });

    expect(rows(opened, "messages", "bodies", "answers", "configurations")).toEqual({
      messages: 0,
      bodies: 0,
      answers: 0,
      configurations: 0,
    });
  });

  it("goes also where schedulers of other shards sweep in the same commit", async () => {
    const opened = openIn(newDirectory());
    const { clock, records } = opened;
    const some = Array.from({ length: 12 }, () => aMessage({ id: newId() }));
    await insert(opened, some);
    for (const message of some) await attempt(opened, message, 200);

    for (let round = 0; round < 2; round++)
      await Promise.all(
        [0, 1, 2].map((third) => {
          const shards = allShards.filter((shard) => shard % 3 === third);
          return records.removeFinished(shards, clock.now() + 1, 10_000);
        }),
      );

    const ids = some.map(({ id }) => id);
    expect(await records.get(aTenant, ids)).toEqual(some.map(() => undefined));
  });

  it("is one of many that go in few commits", async () => {
    const opened = openIn(newDirectory());
    const many = Array.from({ length: 2_000 }, () => aMessage());
    await insert(opened, many);
    await opened.records.cancel(
      aTenant,
      many.map(({ id }) => id),
    );
    const before = opened.commits();

    expect(await sweepAll(opened)).toBe(2_000);
    expect(opened.commits() - before).toBeLessThan(20);
  });
});

describe("the body of a message that is kept", () => {
  const kept = async (opened: Opened, overrides: MessageOverrides = {}) => {
    const message = aMessage({ id: opened.ids.next(), now: opened.clock.now(), ...overrides });
    await insert(opened, [message]);
    await attempt(opened, message, 200);
    const { clock, records } = opened;
    await records.removeFinished(allShards, clock.now() + 1, 10_000);
    return message;
  };

  it("is the unchanged row beside the row that is its log, without another write", async () => {
    const opened = openIn(newDirectory());
    await kept(opened);

    const tables = ["messages", "bodies", "answers", "configurations", "events", "kept"];
    expect(rows(opened, ...tables)).toEqual({
      ...{ messages: 1, bodies: 1, answers: 1 },
      ...{ configurations: 0, events: 0, kept: 0 },
    });
    await opened.keptBodies.sweep(aTenant, opened.clock.now() + 1, 10);
    expect(rows(opened, "messages", "bodies", "answers")).toEqual({
      ...{ messages: 1, bodies: 0, answers: 0 },
    });
  });

  it("goes with its row when the log is swept first", async () => {
    const opened = openIn(newDirectory());
    await kept(opened);

    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);

    expect(rows(opened, "messages", "bodies", "answers")).toEqual({
      ...{ messages: 0, bodies: 0, answers: 0 },
    });
  });

  it("of a row that was split goes with its answer", async () => {
    const opened = openIn(newDirectory());
    // An id of an earlier time keeps the row from staying whole.
    await opened.clock.advance(10_000);
    await kept(opened, { id: newId() });
    expect(rows(opened, "kept", "bodies", "answers")).toEqual({ kept: 1, bodies: 1, answers: 1 });

    await opened.keptBodies.sweep(aTenant, opened.clock.now() + 1, 10);

    expect(rows(opened, "kept", "bodies", "answers")).toEqual({ kept: 0, bodies: 0, answers: 0 });
  });

  it("is kept over a start, which continues the sweep", async () => {
    const opened = openIn(newDirectory());
    await opened.clock.advance(10_000);
    const old = await kept(opened);
    // An id of an earlier time keeps the row from staying whole.
    const split = await kept(opened, { id: newId() });
    expect(rows(opened, "kept")).toEqual({ kept: 1 });
    await opened.clock.advance(10_000);
    await opened.keptBodies.sweep(aTenant, opened.clock.now(), 10);
    const young = await kept(opened);
    const clock = virtualClock(opened.clock.now() + 600_000);
    const after = openIn(copyOf(opened), { clock });

    const areKept = (): Promise<readonly boolean[]> =>
      Promise.all(
        [old, split, young].map(
          async ({ id }) => (await after.keptBodies.get(aTenant, id)) !== undefined,
        ),
      );
    expect(await areKept()).toEqual([false, false, true]);
    expect(await after.keptBodies.sweep(aTenant, clock.now(), 10)).toBe(1);
    expect(await areKept()).toEqual([false, false, false]);
  });

  it("is one of many that are swept in few commits, and frees no more than 16 MiB in each", async () => {
    const opened = openIn(newDirectory());
    const mebibyte = 1024 * 1024;
    for (let n = 0; n < 5; n++) await kept(opened, { body: Buffer.alloc(7 * mebibyte) });
    for (let n = 0; n < 100; n++) await kept(opened);
    const before = opened.commits();

    expect(await opened.keptBodies.sweep(aTenant, opened.clock.now() + 1, 1_000)).toBe(105);
    expect(opened.commits() - before).toBe(3);
  });
});

describe("a message that failed", () => {
  const failed = async () => {
    const opened = openIn(newDirectory());
    const message = aMessage({ policy: once });
    await insert(opened, [message]);
    await attempt(opened, message, 500);
    return { opened, message };
  };

  it("is a dead letter, a fact in the log and a record that has ended, in one commit, with nothing left to do", async () => {
    const { opened, message } = await failed();

    const { items } = await opened.deadLetters.list(
      aTenant,
      {},
      { limit: 10, order: "earliestFirst" },
    );
    const [record] = await opened.records.get(aTenant, [message.id]);

    expect(items).toMatchObject([
      { message, reason: "retries_exhausted", response: { status: 500 } },
    ]);
    expect(record).toMatchObject({ state: { kind: "failed" }, outbox: [] });
    expect(await opened.alarms.next(allShards)).toBeUndefined();
    expect(opened.commits()).toBe(3);
  });

  it("shares configuration and body with its dead letter, which keeps both for as long as it exists", async () => {
    const { opened, message } = await failed();

    await sweepAll(opened);
    await opened.messageLog.sweep(aTenant, opened.clock.now() + 1, 10);
    expect(rows(opened, "messages", "configurations", "bodies")).toEqual({
      messages: 0,
      configurations: 1,
      bodies: 1,
    });
    const [letter] = (
      await opened.deadLetters.list(aTenant, {}, { limit: 1, order: "earliestFirst" })
    ).items;
    expect(letter?.message).toEqual(message);

    expect(await opened.deadLetters.remove(aTenant, letter ? [letter.id] : [])).toBe(1);
    expect(rows(opened, "dead_letters", "configurations", "bodies")).toEqual({
      dead_letters: 0,
      configurations: 0,
      bodies: 0,
    });
  });

  it("keeps its record readable when its dead letter is removed first", async () => {
    const { opened, message } = await failed();
    const { items } = await opened.deadLetters.list(
      aTenant,
      {},
      { limit: 1, order: "earliestFirst" },
    );

    await opened.deadLetters.remove(
      aTenant,
      items.map(({ id }) => id),
    );

    expect(await opened.records.get(aTenant, [message.id])).toMatchObject([{ message }]);
  });
});

describe("the children of a group publish", () => {
  const parentWith = async (n: number, policy = once) => {
    const opened = openIn(newDirectory());
    const body = new Uint8Array(100_000);
    const fanOut = aFanOut({ endpointCount: n, command: { policy, body } });
    await opened.fanOuts.insert(fanOut, "new");
    const children = Array.from({ length: n }, (_, i) =>
      childOf(fanOut, { url: `https://e${i}.example/` }, i),
    );
    await insert(opened, children);
    await opened.fanOuts.advance(fanOut.id, 0, n, true);
    return { opened, children };
  };

  it("have one body among them, in the file too", async () => {
    const { opened, children } = await parentWith(100);

    expect(rows(opened, "messages", "bodies")).toEqual({ messages: 100, bodies: 1 });
    expect(
      await opened.records.get(
        aTenant,
        children.slice(0, 1).map(({ id }) => id),
      ),
    ).toMatchObject([{ message: children[0] }]);
  });

  it("leave the body to a dead letter of one of them, and the fan-out still goes", async () => {
    const { opened, children } = await parentWith(2);
    for (const [i, child] of children.entries()) await attempt(opened, child, i === 0 ? 500 : 200);

    await sweepAll(opened);
    await sweepAll(opened);
    expect(rows(opened, "messages", "fan_outs", "bodies")).toEqual({
      messages: 0,
      fan_outs: 0,
      bodies: 1,
    });
    const { items } = await opened.deadLetters.list(
      aTenant,
      {},
      { limit: 10, order: "earliestFirst" },
    );
    expect(items.map(({ message }) => message.body.length)).toEqual([100_000]);

    await opened.deadLetters.remove(
      aTenant,
      items.map(({ id }) => id),
    );
    expect(rows(opened, "bodies")).toEqual({ bodies: 0 });
  });

  it("leave tombstones for 24 hours and their names to the log, and then nothing", async () => {
    const { opened, children } = await parentWith(3);
    for (const child of children) await attempt(opened, child, 200);
    await sweepAll(opened);
    expect(rows(opened, "names")).toEqual({ names: 3 });

    await opened.clock.advance(limits.tombstoneMs + 1);
    await sweepAll(opened);
    const messageIds = children.map(({ id }) => id);
    const listed = await opened.messageLog.list(
      aTenant,
      { messageIds },
      { limit: 100, order: "earliestFirst" },
    );
    expect(listed.items).toHaveLength(9);
    await opened.messageLog.sweep(aTenant, opened.clock.now(), 100);

    expect(rows(opened, "names", "events", "configurations")).toEqual({
      names: 0,
      events: 0,
      configurations: 0,
    });
  });
});

describe("a fan-out", () => {
  it("appears in no log, and leaves nothing", async () => {
    const opened = openIn(newDirectory());
    const { id } = aFanOut({ endpointCount: 1 });
    await opened.fanOuts.insert(
      aFanOut({ id, endpointCount: 1, chunks: [groupChunkId("c")] }),
      "new",
    );
    expect(rows(opened, "chunk_uses")).toEqual({ chunk_uses: 1 });
    expect(await opened.fanOuts.advance(id, 0, 1, true)).toBe(true);

    expect(rows(opened, "events", "chunk_uses")).toEqual({ events: 0, chunk_uses: 0 });
    await sweepAll(opened);
    expect(rows(opened, "fan_outs", "configurations", "bodies", "names")).toEqual({
      fan_outs: 0,
      configurations: 0,
      bodies: 0,
      names: 0,
    });
  });

  it("under a derived id leaves a tombstone for 24 hours", async () => {
    const opened = openIn(newDirectory());
    const fanOut = aFanOut({ id: messageId(`${newId()}_s`), endpointCount: 1 });
    await opened.fanOuts.insert(fanOut, "new");
    await opened.fanOuts.advance(fanOut.id, 0, 1, true);
    await sweepAll(opened);

    expect(rows(opened, "fan_outs", "names")).toEqual({ fan_outs: 0, names: 1 });
    expect(await opened.fanOuts.insert(fanOut, "new")).toBe("known");
    await opened.clock.advance(limits.tombstoneMs + 1);
    expect(await opened.fanOuts.insert(fanOut, "new")).toBe("inserted");
  });

  it("has its positions for itself, also after a start", async () => {
    const first = openIn(newDirectory());
    const fanOut = aFanOut({ id: first.ids.next(), endpointCount: 5_000 });
    await first.fanOuts.insert(fanOut, "new");
    await first.close();
    const opened = openIn(first.dataDir, { clock: first.clock });
    const after = Array.from({ length: 3 }, () => aMessage({ id: opened.ids.next() }));
    await insert(opened, after);

    const children = [0, 1, 4_999].map((i) => childOf(fanOut, { url: "https://e.example/" }, i));
    await insert(opened, children);

    expect(rows(opened, "messages")).toEqual({ messages: 6 });
  });
});

describe("a lane", () => {
  it("is removed a day after its last use, when it is empty and has no alarm", async () => {
    const opened = openIn(newDirectory());
    const message = aMessage({
      flow: { key: "once", limits: { parallelism: 1, periodMs: 1_000 } },
    });
    await insert(opened, [message]);
    await opened.records.cancel(aTenant, [message.id]);
    await sweepAll(opened);
    expect(rows(opened, "lanes")).toEqual({ lanes: 1 });

    const [lane] = await opened.flowLanes.rows([flowLaneId(aTenant, "once")]);
    if (!lane) throw new Error("the lane is not there");
    await opened.flowLanes.rest(lane.id, lane.seq, undefined, undefined);
    await opened.clock.advance(limits.laneKeptMs);
    await sweepAll(opened);

    expect(rows(opened, "lanes")).toEqual({ lanes: 0 });
  });
});

describe("pulling", () => {
  it("finds the few that are due elsewhere behind a thousand destinations that are excepted", async () => {
    const opened = openIn(":memory:");
    const crowd = Array.from({ length: 1_500 }, (_, i) =>
      aMessage({ url: `https://e${i}.example/` }),
    );
    await insert(opened, crowd);
    const found = new Set<string>();
    const origins = new Set<number>();

    // Each pull continues where the last one stopped, so a few of them see all.
    for (let n = 0; n < 4; n++) {
      for (const hint of await opened.records.pull(aTenant, 1_500, [...origins])) {
        found.add(hint.id);
        origins.add(hint.origin);
      }
    }

    expect(found.size).toBe(1_500);
  });
});
