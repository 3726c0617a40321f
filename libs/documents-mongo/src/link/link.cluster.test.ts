/** A server that is away, dies, hangs and comes back, as callers, logs and readiness report it. */
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
import { accept } from "@posthaste/domain";
import { askMongod, type RunningMongo, startMongod } from "@posthaste/local";
import { systemClock, systemRandom } from "@posthaste/process";
import { aMessage, aTenant, recordingLog, type RecordingLog } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Documents, type DocumentsOptions, openDocuments } from "../open.ts";
import { patienceMs, untilUp } from "../opened.fixture.ts";

jest.setTimeout(600_000);

/** The server's code for writes that an operator has blocked. */
const writesAreBlocked = 371;
const hasCause = (error: unknown): boolean => Error.isError(error) && "cause" in error;

const unavailable = { name: "StoreError", code: "unavailable" };

describe("MongoDB", () => {
  let server: RunningMongo;
  let documents: Documents | undefined;
  let log: RecordingLog;

  beforeAll(async () => {
    server = await startMongod({ dir: temporaryFolder() });
  });
  beforeEach(() => {
    log = recordingLog();
  });
  afterEach(async () => {
    await documents?.close();
    if (!server.process.isRunning) await server.process.restart();
    server.process.resume();
    await refuseWrites("off");
  });
  afterAll(async () => {
    await server.process.stop();
  });

  const refuseWrites = (mode: "alwaysOn" | "off") =>
    askMongod(server, {
      configureFailPoint: "failCommand",
      mode,
      ...(mode === "alwaysOn" && {
        data: { failCommands: ["insert", "update"], errorCode: writesAreBlocked },
      }),
    });

  async function open(given: Partial<DocumentsOptions> = {}): Promise<Documents> {
    documents = await openDocuments({
      uri: server.uri,
      database: "link",
      clock: systemClock(),
      random: systemRandom(),
      log,
      patienceMs: 1_000,
      ...given,
    });
    return documents;
  }
  const publish = ({ ports, storeClock }: Documents) => {
    const message = aMessage({ id: ports.ids.next(), now: storeClock.now() });
    return ports.records.insert([{ record: accept(message, storeClock.now()) }], "new");
  };
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    const end = Date.now() + patienceMs;
    while (!isSo()) {
      if (Date.now() > end) throw new Error(`in vain: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  /** On a busy host a call may take longer than the patience of the adapter in this suite. */
  const untilPublished = async (given: Documents): Promise<void> => {
    let published = false;
    for (const end = Date.now() + patienceMs; !published && Date.now() < end;)
      published = (await publish(given).catch(() => [])).length > 0;
    expect(published).toBe(true);
  };
  /** A stopped process may still answer calls that are under way. */
  const untilRefused = async (given: Documents): Promise<void> => {
    const end = Date.now() + patienceMs;
    let refusal: unknown;
    while (refusal === undefined && Date.now() < end)
      refusal = await publish(given).then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(refusal).toMatchObject(unavailable);
  };
  const changes = () => log.events().filter((event) => /^documents[.](up|down)$/.test(event));

  it("that is away when it is opened refuses everything, and is found when it comes", async () => {
    await server.process.kill();
    const opened = await open();

    const refusal = await publish(opened).catch((error: unknown) => error);
    expect(refusal).toMatchObject(unavailable);
    // Without a cause: no call was tried.
    expect(refusal).not.toHaveProperty("cause");
    await until("it is known why", () => opened.problem()?.includes("ECONNREFUSED") === true);
    await expect(opened.ports.accounts.tenants()).rejects.toMatchObject(unavailable);
    await expect(
      opened.ports.records.renew([{ id: opened.ports.ids.next(), epoch: 1 }]),
    ).rejects.toMatchObject(unavailable);
    expect(opened.isUp()).toBe(false);
    await server.process.restart();
    await untilUp(opened);

    await untilPublished(opened);
    expect(opened.problem()).toBeUndefined();
    expect(changes().slice(0, 2)).toEqual(["documents.down", "documents.up"]);
  });

  for (const [what, goAway, comeBack] of [
    ["dies", () => server.process.kill(), () => server.process.restart()],
    ["hangs", async () => server.process.pause(), async () => server.process.resume()],
  ] as const)
    it(`that ${what} is noticed, refuses calls meanwhile, and is found again after its return`, async () => {
      const opened = await open();
      await untilUp(opened);
      await untilPublished(opened);

      await goAway();
      await untilRefused(opened);
      await until("it is noticed", () => changes().at(-1) === "documents.down");
      await untilRefused(opened);
      expect(opened.problem()).toBeDefined();
      await comeBack();
      await untilUp(opened);

      await untilPublished(opened);
      expect(await opened.ports.records.pull(aTenant, 100, [])).not.toEqual([]);
      const said = changes();
      expect(said).toContain("documents.down");
      // One line per change.
      said.forEach((event, n) => expect(event).not.toBe(said[n - 1]));
    });

  it("that answers reads and takes no write is down, and refuses inserts untried, until it takes writes again", async () => {
    const opened = await open();
    await untilUp(opened);
    await untilPublished(opened);
    await refuseWrites("alwaysOn");
    await until("it is noticed", () => changes().at(-1) === "documents.down");
    await until("it is refused untried", () => opened.problem() !== undefined);
    await untilRefused(opened);
    let refusal = await publish(opened).catch((error: unknown) => error);
    for (const end = Date.now() + patienceMs; hasCause(refusal) && Date.now() < end;)
      refusal = await publish(opened).catch((error: unknown) => error);
    expect(refusal).toMatchObject(unavailable);
    expect(refusal).not.toHaveProperty("cause");
    expect(opened.isUp()).toBe(false);
    await refuseWrites("off");

    await untilUp(opened);
    await untilPublished(opened);
  });

  it("gives the store's time", async () => {
    const opened = await open();
    await untilUp(opened);

    // On one host the clocks agree; a reply may have taken a second.
    expect(Math.abs(opened.storeClock.now() - Date.now())).toBeLessThan(10_000);
  });

  it("may be closed while it is away", async () => {
    await server.process.kill();
    const opened = await open();

    await opened.close();

    await expect(publish(opened)).rejects.toMatchObject(unavailable);
  });
});
