/** Lost replies and a killed server: each write takes effect once, and acknowledged writes stay. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from "@jest/globals";
import { accept, flowLaneId, limits, type Message } from "@posthaste/domain";
import { directUri, openProxy, type Proxy, type RunningMongo, startMongod } from "@posthaste/local";
import { systemClock, systemRandom } from "@posthaste/process";
import {
  aCallbackPlan,
  aMessage,
  anOwner,
  aPolicy,
  aTenant,
  recordingLog,
  aFanOut,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { settlementOf } from "./messages/harness.fixture.ts";
import { type Documents, openDocuments } from "./open.ts";
import { patienceMs, untilUp } from "./opened.fixture.ts";

jest.setTimeout(600_000);

const oneAtATime = { parallelism: 1, periodMs: 1_000 };

describe("MongoDB", () => {
  let server: RunningMongo;
  let proxy: Proxy;
  let documents: Documents;

  beforeAll(async () => {
    server = await startMongod({ dir: temporaryFolder() });
    proxy = await openProxy({ to: server });
  });
  afterAll(async () => {
    await proxy.close();
    await server.process.stop();
  });
  beforeEach(async () => {
    documents = await openDocuments({
      uri: directUri(proxy),
      database: "lost_replies",
      clock: systemClock(),
      random: systemRandom(),
      log: recordingLog(),
      patienceMs,
    });
    await untilUp(documents);
  });
  afterEach(async () => {
    await documents.close();
  });

  const newMessages = (count: number, overrides: Parameters<typeof aMessage>[0] = {}) =>
    Array.from({ length: count }, () =>
      aMessage({ id: documents.ports.ids.next(), now: documents.storeClock.now(), ...overrides }),
    );
  const aTightLane = () => {
    const flow = { key: documents.ports.ids.next(), limits: oneAtATime };
    return [flow, flowLaneId(aTenant, flow.key)] as const;
  };
  const insert = (messages: readonly Message[]) =>
    documents.ports.records.insert(
      messages.map((message) => ({ record: accept(message, documents.storeClock.now()) })),
      "new",
    );
  const claim = (messages: readonly Message[]) =>
    documents.ports.records.claim(
      messages.map(({ id }) => id),
      anOwner,
    );
  const losses: { readonly begin: Buffer; left: number }[] = [];
  /** Loses the first two replies to `command` on `collection` while `act` is under way. */
  const losing = async <T>(
    command: string,
    collection: string,
    act: () => Promise<T>,
  ): Promise<T> => {
    const loss = { begin: beginOf(command, collection), left: 2 };
    losses.push(loss);
    proxy.loseReplies((request) => {
      const meant = losses.find(({ begin, left }) => left > 0 && request.includes(begin));
      if (meant) meant.left -= 1;
      return meant !== undefined;
    });
    const answer = await act();
    expect(loss.left).toBe(0);
    return answer;
  };

  it("an insert whose reply was lost answers that it has inserted, and knows records of before", async () => {
    const [known, ...fresh] = newMessages(4);
    if (!known) throw new Error("unreachable");
    await insert([known]);

    const answers = await losing("insert", "messages", () => insert([known, ...fresh]));

    expect(answers).toEqual(["known", "inserted", "inserted", "inserted"]);
  });

  it("an insert into a line whose replies were lost keeps the line's order", async () => {
    const [flow, lane] = aTightLane();
    const messages = newMessages(4, { flow });

    await losing("insert", "messages", () => losing("update", "lanes", () => insert(messages)));

    const { flowLanes } = documents.ports;
    const line = await flowLanes.heads(lane, 10);
    expect(line.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    expect((await flowLanes.rows([lane]))[0]?.wakeAt).toBeLessThanOrEqual(
      documents.storeClock.now(),
    );
  });

  for (const command of ["update", "find"])
    it(`a claim finds its claimed records although the reply to its ${command} was lost`, async () => {
      const messages = newMessages(3);
      await insert(messages);

      const claimed = await losing(command, "messages", () => claim(messages));

      expect(claimed.map(({ message, epoch }) => [message.id, epoch]).toSorted()).toEqual(
        messages.map(({ id }) => [id, 1]).toSorted(),
      );
    });

  it("a settle whose reply was lost holds, its follow-ups once, and leaves them to its caller", async () => {
    const policy = aPolicy({ callback: aCallbackPlan() });
    const messages = newMessages(3, { policy });
    await insert(messages);
    const records = await claim(messages);
    const settlements = records.map((record) => settlementOf(record, documents.storeClock.now()));

    const settled = await losing("update", "messages", () =>
      documents.ports.records.settle(settlements),
    );

    expect(settled).toEqual(settlements.map(({ append }) => ({ kind: "ok", left: append })));
    for (const record of await documents.ports.records.get(
      aTenant,
      messages.map(({ id }) => id),
    ))
      expect(record).toMatchObject({
        state: { kind: "delivered" },
        outbox: [{ kind: "callback" }, { kind: "fact" }],
      });
  });

  it("a renewal whose reply was lost has renewed, and reports lost leases", async () => {
    const messages = newMessages(2);
    await insert(messages);
    const records = await claim(messages);
    const renewals = records.map(({ message: { id }, epoch }) => ({ id, epoch }));
    const [gone] = renewals;
    if (!gone) throw new Error("unreachable");
    await documents.ports.records.cancel(aTenant, [gone.id]);

    const lost = await losing("update", "messages", () => documents.ports.records.renew(renewals));

    expect(lost).toEqual([gone.id]);
  });

  it("a cancellation whose reply was lost has canceled, once", async () => {
    const messages = newMessages(2);
    await insert(messages);

    const canceled = await losing("update", "messages", () =>
      documents.ports.records.cancel(
        aTenant,
        messages.map(({ id }) => id),
      ),
    );

    const ended = { kind: "canceled", owed: { kind: "fact" } };
    expect(canceled).toMatchObject([ended, ended]);
    for (const record of await documents.ports.records.get(
      aTenant,
      messages.map(({ id }) => id),
    ))
      expect(record).toMatchObject({ epoch: 1, state: { kind: "canceled" }, outbox: [] });
  });

  it("a promotion whose reply was lost answers the promoted messages", async () => {
    const [flow, lane] = aTightLane();
    const messages = newMessages(3, { flow });
    await insert(messages);
    const ids = messages.map(({ id }) => id);
    const grantUntil = documents.storeClock.now() + limits.grantMs;

    const promoted = await losing("update", "messages", () =>
      documents.ports.flowLanes.promote(lane, ids, grantUntil),
    );

    expect(promoted).toEqual(ids);
  });

  it("progress of a group publish is made by whom its reply did not reach", async () => {
    const { fanOuts, ids } = documents.ports;
    const fanOut = aFanOut({ id: ids.next(), now: documents.storeClock.now() });

    expect(await losing("insert", "fan_outs", () => fanOuts.insert(fanOut, "new"))).toBe(
      "inserted",
    );
    expect(
      await losing("findAndModify", "fan_outs", () => fanOuts.advance(fanOut.id, 0, 500, false)),
    ).toBe(true);
    expect(await fanOuts.advance(fanOut.id, 0, 500, false)).toBe(false);
  });

  it("a lane comes to rest although the reply was lost", async () => {
    const [flow, lane] = aTightLane();
    await insert(newMessages(1, { flow }));
    const { flowLanes } = documents.ports;
    const [row] = await flowLanes.rows([lane]);
    const wakeAt = documents.storeClock.now() + 5_000;

    expect(
      await losing("update", "lanes", () =>
        flowLanes.rest(lane, row?.seq ?? -1, wakeAt, undefined),
      ),
    ).toBe(true);
    expect((await flowLanes.rows([lane]))[0]?.wakeAt).toBe(wakeAt);
  });

  it("acknowledged records survive a kill of the server, and calls during it are repeated", async () => {
    const acknowledged: Message[] = [];
    let stopped = false;
    const publisher = async (): Promise<void> => {
      while (!stopped) {
        const [message] = newMessages(1);
        if (!message) return;
        const answer = await insert([message]).catch(() => []);
        if (answer[0] === "inserted") acknowledged.push(message);
      }
    };
    const publishers = Array.from({ length: 8 }, publisher);
    const enough = async (count: number): Promise<void> => {
      const goal = acknowledged.length + count;
      while (acknowledged.length < goal) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    try {
      for (let kill = 0; kill < 2; kill++) {
        await enough(30);
        await server.process.kill();
        await server.process.restart();
      }
      await enough(30);
    } finally {
      stopped = true;
      await Promise.all(publishers);
    }

    const found = await documents.ports.records.get(
      aTenant,
      acknowledged.map(({ id }) => id),
    );

    expect(found.filter((record) => record === undefined)).toEqual([]);
  });
});

/** In a request, the command's name is the first field of the document; its value is the collection, a string. */
function beginOf(command: string, collection: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32LE(collection.length + 1);
  const [field, value] = [`\u0002${command}\0`, `${collection}\0`];
  return Buffer.concat([Buffer.from(field), length, Buffer.from(value)]);
}
