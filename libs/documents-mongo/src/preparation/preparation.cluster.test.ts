/** Missing parts of a database are built once, by the first process, and reported by all. The server can hold up builds. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { accept } from "@posthaste/domain";
import { askMongod, type RunningMongo, startMongod } from "@posthaste/local";
import { systemClock, systemRandom } from "@posthaste/process";
import { aMessage, aTenant, recordingLog } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Db, MongoClient } from "mongodb";
import { type DocumentsMigration, openDocumentsMigration } from "../migrate.ts";
import { type Documents, openDocuments } from "../open.ts";
import { patienceMs, untilUp, untilIndexed } from "../opened.fixture.ts";
import { type Migration } from "./formats.ts";
import { type Wanted } from "./prepare.ts";

jest.setTimeout(240_000);

const maxTimeExpired = 50;

describe("a database", () => {
  const dir = temporaryFolder();
  const opened: { close(): Promise<void> }[] = [];
  let server: RunningMongo;
  let client: MongoClient;
  let name: string;
  let db: Db;

  beforeAll(async () => {
    server = await startMongod({ dir });
    client = new MongoClient(server.uri);
  });
  afterEach(async () => {
    await hang("off");
    await failReads("off");
    for (const each of opened.splice(0)) await each.close();
  });
  afterAll(async () => {
    await client.close();
    await server.process.stop();
  });

  const newDatabase = (): void => {
    name = `test_${systemRandom().text(8)}`;
    db = client.db(name);
  };
  const parts = () => ({
    ...{ uri: server.uri, database: name },
    ...{ clock: systemClock(), random: systemRandom() },
  });
  const open = async (): Promise<Documents> => {
    const documents = await openDocuments({ ...parts(), log: recordingLog(), patienceMs: 1_000 });
    opened.push(documents);
    return documents;
  };
  const migration = (told: string[] = [], wanted?: Wanted): DocumentsMigration => {
    const made = openDocumentsMigration(
      { ...parts(), tell: (doing) => void told.push(doing) },
      wanted,
    );
    opened.push(made);
    return made;
  };
  /** Opens a process that finds nothing missing at its first look, and so never builds. */
  const openWhole = async (): Promise<Documents> => {
    const builder = await open();
    await untilIndexed(builder);
    await builder.close();
    const whole = await open();
    await untilIndexed(whole);
    return whole;
  };
  const hang = (mode: "alwaysOn" | "off") =>
    askMongod(server, { configureFailPoint: "hangAfterStartingIndexBuild", mode });
  const failReads = (mode: "alwaysOn" | "off") =>
    askMongod(server, {
      ...{ configureFailPoint: "failCommand", mode },
      ...(mode === "alwaysOn" && {
        data: {
          ...{ failCommands: ["find"], namespace: `${name}.message_log` },
          errorCode: maxTimeExpired,
        },
      }),
    });
  const builds = async (): Promise<number> => {
    // `desc` excludes the server's own thread, which is listed beside the command that it works for.
    const building = { currentOp: 1, "command.createIndexes": "messages", desc: /^conn/ };
    const { inprog } = await askMongod(server, building);
    return Array.isArray(inprog) ? inprog.length : 0;
  };
  const indexNames = async (collection: string): Promise<readonly string[]> =>
    (await db.collection(collection).indexes()).map(({ name: each }) => String(each));
  const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
    const end = Date.now() + patienceMs;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`in vain: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const publish = ({ ports, storeClock }: Documents) => {
    const message = aMessage({ id: ports.ids.next(), now: storeClock.now() });
    return ports.records.insert([{ record: accept(message, storeClock.now()) }], "new");
  };

  const needed = "tenant_1_state_1_origin_1__id_1";
  const wanted = "tenant_1_message.policy.labels_1__id_1";

  it("without a needed index has it built by one process: new processes wait and show the progress, older ones continue", async () => {
    newDatabase();
    const older = await openWhole();
    await publish(older);
    await db.collection("messages").dropIndex(needed);
    await hang("alwaysOn");

    const newer = [await open(), await open(), await open()];
    const isTold = ({ problem }: Documents) =>
      /^the indexes of messages are being built: \d+ % /.test(problem() ?? "");
    await until("all say it", () => newer.every(isTold));

    expect(await builds()).toBe(1);
    for (const each of newer) {
      expect(each.isUp()).toBe(false);
      await expect(publish(each)).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(await publish(older)).toHaveLength(1);
    await hang("off");
    for (const each of newer) {
      await untilIndexed(each);
      expect(await publish(each)).toHaveLength(1);
    }
    expect(await indexNames("messages")).toContain(needed);
  });

  it("without an index that only lists need is used: lists that take too long meanwhile are refused with its name", async () => {
    newDatabase();
    const older = await openWhole();
    await db.collection("messages").dropIndex(wanted);
    await hang("alwaysOn");
    const page = { limit: 10, order: "latestFirst" } as const;

    const newer = await open();
    await untilUp(newer);
    await until("it is told", () => /indexes of messages are/.test(newer.building() ?? ""));

    expect(await publish(newer)).toHaveLength(1);
    expect(await newer.ports.messageLog.list(aTenant, {}, page)).toMatchObject({ items: [] });
    await failReads("alwaysOn");
    await expect(newer.ports.messageLog.list(aTenant, {}, page)).rejects.toMatchObject({
      code: "indexing",
      message: expect.stringContaining("the indexes of messages are being built"),
    });
    await expect(older.ports.messageLog.list(aTenant, {}, page)).rejects.toMatchObject({
      code: "overloaded",
    });
    await failReads("off");
    await hang("off");
    await untilIndexed(newer);
    expect(await indexNames("messages")).toContain(wanted);
  });

  it("is completed by a migration, which reports the missing parts, and finds nothing to do when run again", async () => {
    newDatabase();
    const told: string[] = [];

    const missing = await migration().missing();
    expect(missing).toContain(`index ${needed} of messages, needed`);
    expect(missing).toContain(`index ${wanted} of messages, wanted`);
    expect(await db.listCollections().toArray()).toEqual([]);
    await migration(told).run();

    expect(told).toContain("the indexes of messages are being built");
    expect(await migration().missing()).toEqual([]);
    expect(await db.collection("meta").find().toArray()).toEqual([{ _id: "format", format: 1 }]);
    told.length = 0;
    await migration(told).run();
    expect(told).toEqual([]);
  });

  it("is built by one of two migrations: the other says so, waits and ends with it", async () => {
    newDatabase();
    await migration().run();
    await db.collection("messages").dropIndex(needed);
    // An empty collection gets its index at once.
    await db.collection<{ _id: string }>("messages").insertOne({ _id: "one" });
    await hang("alwaysOn");
    const [first, second]: [string[], string[]] = [[], []];

    const running = [migration(first).run()];
    await until("one builds", async () => (await builds()) === 1);
    running.push(migration(second).run());
    await until("the other waits", () =>
      second.some((line) =>
        line.startsWith("another process is migrating: the indexes of messages"),
      ),
    );
    expect(await builds()).toBe(1);
    await hang("off");
    await Promise.all(running);

    expect(await migration().missing()).toEqual([]);
  });

  it("with 200,000 messages gets an index while older processes write and read, though its first builder is killed", async () => {
    newDatabase();
    const older = await openWhole();
    await db.collection("messages").dropIndex(needed);
    for (let from = 0; from < 200_000; from += 20_000)
      await db.collection<{ _id: string }>("messages").insertMany(
        Array.from({ length: 20_000 }, (_, n) => ({
          ...{ _id: `filled_${from + n}`, tenant: "other", state: "delivered", origin: n },
        })),
        { writeConcern: { w: 1 } },
      );
    let goesOn = true;
    let worked = 0;
    const failures: unknown[] = [];
    const working = (async () => {
      for (; goesOn; worked++) {
        await publish(older).catch((error: unknown) => failures.push(error));
        await older.ports.records
          .pull(aTenant, 10, [])
          .catch((error: unknown) => failures.push(error));
      }
    })();

    await hang("alwaysOn");
    const killed = migrateAsProcess(server.uri, name);
    await until("it builds", async () => (await builds()) === 1);
    const before = worked;
    await until("the older process works beside the build", () => worked > before + 3);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    await hang("off");
    const again = migrateAsProcess(server.uri, name);
    await once(again, "exit");
    goesOn = false;
    await working;

    expect(again.exitCode).toBe(0);
    expect(failures).toEqual([]);
    expect(await indexNames("messages")).toContain(needed);
    expect(await builds()).toBe(0);
    expect(older.problem()).toBeUndefined();
  });

  it("is brought from format to format in order, and continues after an interrupted step", async () => {
    newDatabase();
    const ran: string[] = [];
    let fails = true;
    const step = (title: string, run: () => void): Migration => ({
      name: title,
      run: async (at) => {
        ran.push(`${title} of ${at.databaseName}`);
        run();
      },
    });
    const steps = [
      step("first", () => undefined),
      step("second", () => {
        if (fails) throw new Error("it was cut off");
      }),
    ];
    const told: string[] = [];
    const made = () => migration(told, { indexes: [], migrations: steps });

    expect(await made().missing()).toEqual(["documents: first", "documents: second"]);
    await expect(made().run()).rejects.toThrow("it was cut off");
    fails = false;
    await made().run();

    expect(ran).toEqual(["first", "second", "second"].map((title) => `${title} of ${name}`));
    expect(told).toContain("documents: second");
    expect(await db.collection("meta").find().toArray()).toEqual([{ _id: "format", format: 3 }]);
    const olderBuild = migration([], { indexes: [], migrations: steps.slice(1) });
    await expect(olderBuild.run()).rejects.toThrow("it was written by a newer Posthaste");
    await expect(olderBuild.missing()).rejects.toThrow("it was written by a newer Posthaste");
  });

  it("of a newer format is not worked with, and says so", async () => {
    newDatabase();
    await migration().run();
    await client
      .db(name)
      .collection<{ _id: string }>("meta")
      .updateOne({ _id: "format" }, { $set: { format: 2 } });

    const documents = await open();
    await until("it is said", () => documents.problem()?.includes("newer Posthaste") === true);

    expect(documents.problem()).toBe(
      `the database ${name} has format 2, this program knows 1: it was written by a newer Posthaste`,
    );
    await expect(publish(documents)).rejects.toMatchObject({ code: "unavailable" });
  });
});

/** Runs the migration as a process of its own, which can be killed. */
function migrateAsProcess(uri: string, database: string): ChildProcess {
  const script = `
    import { systemClock, systemRandom } from "@posthaste/process";
    import { openDocumentsMigration } from "${join(import.meta.dirname, "../migrate.ts")}";
    const made = openDocumentsMigration({
      uri: ${JSON.stringify(uri)}, database: ${JSON.stringify(database)},
      clock: systemClock(), random: systemRandom(), tell: () => undefined,
    });
    await made.run();
    await made.close();`;
  return spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
