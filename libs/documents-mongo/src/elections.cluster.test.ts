/** Elections in a set of three, and a slow server. */
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
import { accept, type Message } from "@posthaste/domain";
import {
  askMongod,
  directUri,
  openProxy,
  type RunningMongoSet,
  startMongodSet,
} from "@posthaste/local";
import { systemClock, systemRandom } from "@posthaste/process";
import { aMessage, anOwner, aTenant, recordingLog } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { MongoClient } from "mongodb";
import { settlementOf } from "./messages/harness.fixture.ts";
import { type DocumentsMigration, openDocumentsMigration } from "./migrate.ts";
import { type Documents, openDocuments } from "./open.ts";
import { patienceMs as longPatienceMs, untilUp, untilIndexed } from "./opened.fixture.ts";

jest.setTimeout(300_000);

const database = "elections";
let set: RunningMongoSet;
let documents: Documents;

beforeAll(async () => {
  set = await startMongodSet({ dir: temporaryFolder() });
});
afterAll(async () => {
  await set.stop();
});
afterEach(async () => {
  await documents.close();
});

async function open(patienceMs = longPatienceMs, uri = set.uri): Promise<Documents> {
  documents = await openDocuments({
    ...{ uri, database },
    clock: systemClock(),
    random: systemRandom(),
    log: recordingLog(),
    patienceMs,
  });
  await untilUp(documents);
  return documents;
}

const newMessages = (count: number): readonly Message[] =>
  Array.from({ length: count }, () =>
    aMessage({ id: documents.ports.ids.next(), now: documents.storeClock.now() }),
  );
const insert = (messages: readonly Message[]) =>
  documents.ports.records.insert(
    messages.map((message) => ({ record: accept(message, documents.storeClock.now()) })),
    "new",
  );
const statesOf = async (messages: readonly Message[]): Promise<readonly (string | undefined)[]> => {
  const found = await documents.ports.records.get(
    aTenant,
    messages.map(({ id }) => id),
  );
  return found.map((record) => record?.state.kind);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the primary step down, so that another member is elected. */
const elect = async (): Promise<void> => {
  const primary = await set.primary();
  await askMongod(primary, { replSetStepDown: 1, secondaryCatchUpPeriodSecs: 1, force: true });
  await untilPrimary();
};
const untilPrimary = async (): Promise<void> => {
  while (!(await set.primary().catch(() => undefined))) await pause(20);
};

describe("a build of indexes", () => {
  const dropped = "tenant_1_state_1_origin_1__id_1";
  let client: MongoClient;
  let migration: DocumentsMigration;
  beforeEach(async () => {
    await open();
    await untilIndexed(documents);
    await insert(newMessages(10));
    client = new MongoClient(set.uri);
    await client.db(database).collection("messages").dropIndex(dropped);
    migration = openDocumentsMigration({
      ...{ uri: set.uri, database, clock: systemClock(), random: systemRandom() },
      tell: () => undefined,
    });
  });
  afterEach(async () => {
    await migration.close();
    await client.close();
  });

  it("waits for no member that is away", async () => {
    const primary = await set.primary();
    const away = set.members.find((member) => member !== primary);

    away?.process.pause();
    await migration.run().finally(() => away?.process.resume());

    expect(await migration.missing()).toEqual([]);
  });

  it("continues with another primary", async () => {
    const primary = await set.primary();
    const hang = async (mode: "alwaysOn" | "off"): Promise<void> => {
      await askMongod(primary, { configureFailPoint: "hangAfterStartingIndexBuild", mode });
    };
    const isBuilding = async (): Promise<boolean> => {
      const building = { currentOp: 1, "command.createIndexes": "messages" };
      const { inprog } = await askMongod(primary, building);
      return Array.isArray(inprog) && inprog.length > 0;
    };

    await hang("alwaysOn");
    const running = migration.run();
    while (!(await isBuilding())) await pause(20);
    try {
      await elect();
    } finally {
      await hang("off");
    }
    await running;

    expect(await migration.missing()).toEqual([]);
  });
});

describe("an election", () => {
  it("loses nothing that was published, claimed and settled meanwhile, and does nothing twice", async () => {
    await open();
    const messages = newMessages(electionsMax * 10);
    const electing = (async () => {
      for (let election = 0; election < electionsMax; election++) {
        await pause(100);
        await elect();
      }
    })();

    const outcomes = await Promise.all(
      messages.map(async (message, n) => {
        await pause(n * 20);
        await insert([message]);
        const claimed = await documents.ports.records.claim([message.id], anOwner);
        const settled = await documents.ports.records.settle(
          claimed.map((record) => settlementOf(record, documents.storeClock.now())),
        );
        return [claimed.length, settled.length];
      }),
    );
    await electing;

    expect(outcomes).toEqual(messages.map(() => [1, 1]));
    expect(await statesOf(messages)).toEqual(messages.map(() => "delivered"));
  });

  it("by the death of the primary loses nothing that was acknowledged", async () => {
    await open();
    const messages = newMessages(40);
    const killed = (async () => {
      await pause(100);
      const primary = await set.primary();
      await primary.process.kill();
      await untilPrimary();
      await primary.process.restart();
    })();

    const inserted = await Promise.all(
      messages.map(async (message, n) => {
        await pause(n * 20);
        return insert([message]);
      }),
    );
    await killed;

    expect(inserted.flat()).toEqual(messages.map(() => "inserted"));
    expect(await statesOf(messages)).toEqual(messages.map(() => "due"));
  });

  it.each([
    ["that interrupts a write which was done", 11_602],
    ["before the majority has a write", 64],
    ["with the primary gone while it answers", 189],
  ])("%s has it made once", async (_, code) => {
    await open();
    const [message] = newMessages(1);
    if (!message) throw new Error("one was asked for");
    const failNext = async (command: string) =>
      askMongod(await set.primary(), {
        configureFailPoint: "failCommand",
        mode: { times: 1 },
        data: { failCommands: [command], writeConcernError: { code, errmsg: "of the test" } },
      });

    await failNext("insert");
    const inserted = await insert([message]);
    await failNext("update");
    const claimed = await documents.ports.records.claim([message.id], anOwner);

    expect(inserted).toEqual(["inserted"]);
    expect(claimed.map(({ epoch }) => epoch)).toEqual([1]);
  });

  it("that finds no primary is an outage after our patience, and over when one is elected", async () => {
    await open(shortPatienceMs);
    const primary = await set.primary();
    const others = set.members.filter((member) => member !== primary);

    await Promise.all(others.map(({ process }) => process.kill()));
    await expect(insertUntilRefused()).resolves.toMatchObject({ code: "unavailable" });
    await Promise.all(others.map(({ process }) => process.restart()));
    await untilPrimary();
    await untilUp(documents);
    const messages = newMessages(1);
    await insert(messages);

    expect(await statesOf(messages)).toEqual(["due"]);
  });
});

/** A primary that has lost its majority may accept writes until the election has ended. */
async function insertUntilRefused(): Promise<unknown> {
  for (;;) {
    try {
      await insert(newMessages(1));
    } catch (error) {
      return error;
    }
  }
}

it("a server that takes a second for each answer is up: messages published at the same time go together, each once", async () => {
  await untilPrimary();
  const proxy = await openProxy({ to: await set.primary() });
  await open(slowPatienceMs, directUri(proxy));
  const messages = newMessages(publishedAtOnce);
  proxy.delay("reply", slowMs);
  const callsBefore = documents.calls();

  const inserted = await Promise.all(messages.map((message) => insert([message])));
  const calls = documents.calls() - callsBefore;
  proxy.delay("reply", 0);
  const states = await statesOf(messages);
  await proxy.close();

  expect(inserted.flat()).toEqual(messages.map(() => "inserted"));
  expect(states).toEqual(messages.map(() => "due"));
  expect(calls).toBeLessThan(publishedAtOnce / 10);
});

const slowMs = 1_000;
const slowPatienceMs = 2_500;
const publishedAtOnce = 2_000;
const electionsMax = 4;
const shortPatienceMs = 1_000;
