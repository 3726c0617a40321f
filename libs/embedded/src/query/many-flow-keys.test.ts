/** Measures what the lists of a tenant's flow keys cost other requests, however many keys there are and however many messages wait. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { accept, flowLaneId } from "@posthaste/domain";
import { aMessage, aTenant, recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { openEmbedded } from "../index.ts";
import { openIn } from "../opened.fixture.ts";
import { turnsOf } from "../turns.fixture.ts";

const many = 200_000;
const patienceMs = 120_000;
const rowsPerTurnMax = 10_000;
const lane = flowLaneId(aTenant, "key");

describe("of 200,000 flow keys, and as many messages that wait in one of them", () => {
  const dataDir = temporaryFolder();
  beforeAll(async () => {
    const clock = virtualClock();
    const [random, log] = [seededRandom(1), recordingLog()];
    const store = openEmbedded({ dataDir, clock, random, log, reserveBytes: 0 });
    const flow = { key: "key", limits: { parallelism: 1, periodMs: 1_000 } };
    const messages = [aMessage({ now: clock.now(), flow }), aMessage({ now: clock.now() })];
    for (const message of messages)
      await store.records.insert([{ record: accept(message, clock.now()) }], "new");
    await store.close();
    multiply(join(dataDir, "posthaste.db"));
  }, patienceMs);

  it("none that matches is found in many short turns", async () => {
    const { flowLanes } = openIn(dataDir);

    const { turns, value } = await turnsOf(() => flowLanes.list(aTenant, "no such", 100));

    expect(value).toEqual([]);
    expect(turns).toBeGreaterThan(many / rowsPerTurnMax);
  });

  it("the last that matches is found, and the first are listed in order", async () => {
    const { flowLanes } = openIn(dataDir);

    const [last, first] = await Promise.all([
      flowLanes.list(aTenant, `key-${many}`, 100),
      flowLanes.list(aTenant, "", 3),
    ]);

    expect(last.map(({ key }) => key)).toEqual([`key-${many}`]);
    expect(first.map(({ key }) => key)).toEqual(["key", "key-1", "key-10"]);
  });

  it("the waiting messages are counted in many short turns, each once", async () => {
    const { flowLanes } = openIn(dataDir);
    const idle = flowLaneId(aTenant, "key-1");

    const { turns, value } = await turnsOf(() => flowLanes.waiting([idle, lane]));

    expect(value).toEqual(new Map([[lane, many + 1]]));
    expect(turns).toBeGreaterThan(many / rowsPerTurnMax);
  });
});

/** Copies the lane under other keys, and the message at other positions. */
function multiply(file: string): void {
  const db = new DatabaseSync(file);
  const copied = (table: string, changed: Readonly<Record<string, string>>): string => {
    const columns = db.prepare(`PRAGMA table_info(${table})`).all();
    const names = columns.map(({ name }) => String(name)).filter((name) => changed[name] !== "");
    const values = names.map((name) => changed[name] ?? name);
    return `
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
      INSERT INTO ${table} (${names.join()}) SELECT ${values.join()} FROM n, ${table} WHERE`;
  };
  db.exec(`
    ${copied("messages", { position: "position + 1000 + i", name: "name || i" })} lane IS NOT NULL LIMIT ${many};
    ${copied("lanes", { key: "", id: "id || '-' || i", flow_key: "flow_key || '-' || i" })} true LIMIT ${many};
  `);
  db.close();
}
