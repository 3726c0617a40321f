/** A slow server; and elections, as far as a stand-in for a replica set can show them: what the driver and we make of them (see the fixture). */
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
import { openProxy, type RunningMongo, startMongoJava } from "@posthaste/local";
import { systemClock, systemRandom } from "@posthaste/process";
import { aMessage, anOwner, aTenant, recordingLog } from "@posthaste/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settlementOf } from "./messages/harness.fixture.ts";
import { type Documents, openDocuments } from "./open.ts";
import { patienceMs as longPatienceMs, untilUp } from "./opened.fixture.ts";
import { openReplicaSet, type ReplicaSet } from "./replica-set.fixture.ts";

jest.setTimeout(300_000);

let dir: string;
let server: RunningMongo;
let set: ReplicaSet;
let documents: Documents;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "posthaste-elections-"));
  server = await startMongoJava({ dir });
});
afterAll(async () => {
  await server.process.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  set = await openReplicaSet(server);
});
afterEach(async () => {
  await documents.close();
  await set.close();
});

async function open(patienceMs = longPatienceMs, uri = set.uri): Promise<Documents> {
  documents = await openDocuments({
    uri,
    database: `test_${systemRandom().text(12).toLowerCase()}`,
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
  );
const statesOf = async (messages: readonly Message[]): Promise<readonly (string | undefined)[]> => {
  const found = await documents.ports.records.get(
    aTenant,
    messages.map(({ id }) => id),
  );
  return found.map((record) => record?.state.kind);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("an election", () => {
  it("loses nothing that was published, claimed and settled meanwhile, and does nothing twice", async () => {
    await open();
    const messages = newMessages(electionsMax * 10);
    const electing = (async () => {
      for (let election = 0; election < electionsMax; election++) {
        set.elect(undefined);
        await pause(100);
        set.elect(election % 2 === 0 ? 1 : 0);
        await pause(200);
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

  it.each([
    ["that interrupts a write which was done", { ok: 0, code: 11_602, errmsg: "interrupted" }],
    [
      "before the majority has a write",
      { ok: 1, n: 1, writeConcernError: { code: 64, errmsg: "timed out" } },
    ],
    ["with the primary gone while it answers", { ok: 0, code: 189, errmsg: "stepped down" }],
  ])("%s has it made once", async (_, reply) => {
    await open();
    const [message] = newMessages(1);
    if (!message) throw new Error("one was asked for");

    set.nextReply("insert", () => reply);
    const inserted = await insert([message]);
    set.nextReply("update", () => reply);
    const claimed = await documents.ports.records.claim([message.id], anOwner);

    expect(inserted).toEqual(["inserted"]);
    expect(claimed.map(({ epoch }) => epoch)).toEqual([1]);
  });

  it("that finds no primary is an outage after our patience, and over when one is elected", async () => {
    await open(shortPatienceMs);

    set.elect(undefined);
    await expect(insert(newMessages(1))).rejects.toMatchObject({ code: "unavailable" });
    set.elect(1);
    await untilUp(documents);
    const messages = newMessages(1);
    await insert(messages);

    expect(await statesOf(messages)).toEqual(["due"]);
  });
});

it("a server that takes a second for each answer is up: what is published all at once goes together, each once", async () => {
  const proxy = await openProxy({ to: server });
  await open(slowPatienceMs, `mongodb://127.0.0.1:${proxy.port}/`);
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
