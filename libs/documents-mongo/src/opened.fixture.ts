/** Databases for suites: each suite has one, which is removed when the suite ends. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { systemClock, systemRandom } from "@posthaste/process";
import {
  type RecordingLog,
  recordingLog,
  virtualClock,
  type VirtualClock,
} from "@posthaste/testing";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";
import { type Link, openLink } from "./link/link.ts";
import { type Queries, watchQueries } from "./queries.fixture.ts";

/** Long, since a busy host may be slow, and these suites measure no time. */
export const patienceMs = 60_000;
const heavyMs = 20_000;

export type Opened = {
  readonly connection: Connection;
  /** The store's clock, which only the test moves. */
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  /** The queries of the whole suite so far. */
  readonly queries: Queries;
};

/** Call inside a `describe`. Each call of the returned function empties the database and sets the clock to its start. */
export function freshDatabase(uri: string, indexes: readonly Index[]): () => Promise<Opened> {
  let link: Link | undefined;
  let queries: Queries | undefined;
  const log = recordingLog();
  beforeAll(async () => {
    const database = `test_${systemRandom().text(12).toLowerCase()}`;
    link = openLink(
      {
        uri: withOptions(uri, { monitorCommands: "true", ...weaker }),
        database,
        clock: systemClock(),
        random: systemRandom(),
        log,
        patienceMs,
        heavyMs,
      },
      indexes,
    );
    const { aside, connection } = link;
    const lists = connection.heavy.collection("lists").db.client;
    const others = [connection.db.client, aside.db.client];
    queries = watchQueries({ lists, others }, database, indexes, heavyMs);
    await untilIndexed(link);
  }, 2 * patienceMs);
  afterAll(async () => {
    await link?.drop();
    await link?.close();
    expect(queries?.otherConcerns()).toEqual([]);
    expect(queries?.otherTimes()).toEqual([]);
  }, patienceMs);

  return async () => {
    if (!link || !queries) throw new Error("freshDatabase belongs into a describe");
    const { connection } = link;
    for (const { collectionName } of await connection.db.collections())
      await connection.collection(collectionName).deleteMany({});
    const clock = virtualClock();
    return { connection: { ...connection, clock }, clock, log, queries };
  };
}

/** Tests the queries of the suite so far. Must be called after the tests that make them. */
export function readsNoWholeCollection(of: string, open: () => Promise<Opened>): void {
  it(`no question of ${of} reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });
}

/** Options that an address may have and the adapter overrides (ADR 97). */
const weaker = {
  w: "1",
  journal: "false",
  wtimeoutMS: "1",
  readConcernLevel: "available",
  readPreference: "secondaryPreferred",
};

/** Adds `options` to the options of the address, replacing any of the same name. */
function withOptions(uri: string, options: Readonly<Record<string, string>>): string {
  const [address = "", given] = uri.split("?", 2);
  const all = new URLSearchParams(given);
  for (const [name, value] of Object.entries(options)) all.set(name, value);
  return `${address.replace(/^(\w+(?:[+]srv)?:\/\/[^/]+)$/, "$1/")}?${all.toString()}`;
}

/** Waits until all indexes are there, also the wanted ones. */
export async function untilIndexed(
  link: Pick<Link, "building" | "isUp" | "problem">,
): Promise<void> {
  await untilUp(link);
  while (link.building() !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
}

export async function untilUp(link: Pick<Link, "isUp" | "problem">): Promise<void> {
  const until = Date.now() + patienceMs;
  while (!link.isUp()) {
    if (Date.now() > until) throw new Error(`the documents do not come up: ${link.problem()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
