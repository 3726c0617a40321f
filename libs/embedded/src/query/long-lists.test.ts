/** Measures what a list costs other requests: it is read in the one thread that also settles and renews. */
import { beforeAll, describe, expect, it, jest } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import {
  accept,
  acceptClaimed,
  type DeadLetter,
  dlqIdOf,
  limits,
  type ListOrder,
  type PageRequest,
  settleAttempt,
} from "@posthaste/domain";
import { type Page } from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  aPolicy,
  aTenant,
  recordingLog,
  seededRandom,
  virtualClock,
} from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { openEmbedded } from "../index.ts";
import { countRows, newDirectory, openIn } from "../opened.fixture.ts";
import { turnsOf } from "../turns.fixture.ts";

jest.setTimeout(120_000);
const events = 1_000_000;
const rowsPerPage = 20_000;
/** The rows that take a millisecond; a list reads half as many. */
const rowsPerTurnMax = 1_000;
const mebibyte = 1024 * 1024;

async function allPages<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  order: ListOrder,
): Promise<{ readonly items: readonly T[]; readonly pages: number }> {
  const items: T[] = [];
  let after: string | undefined;
  for (let pages = 1; ; pages++) {
    const got = await list({ limit: 100, order, ...(after !== undefined && { after }) });
    items.push(...got.items);
    if (got.next === undefined) return { items, pages };
    after = got.next;
  }
}

describe("a list of a million rows of which none is wanted", () => {
  const dataDir = temporaryFolder();
  beforeAll(async () => {
    const clock = virtualClock();
    const store = openEmbedded({
      dataDir,
      clock,
      random: seededRandom(1),
      log: recordingLog(),
      reserveBytes: 0,
    });
    const message = aMessage();
    await store.records.insert([{ record: accept(message, clock.now()) }], "new");
    const letter = { failedAt: clock.now(), reason: "non_retryable", message, retried: 0 } as const;
    await store.deadLetters.insert([{ ...letter, id: dlqIdOf(message.id, clock.now()) }]);
    await store.close();
    multiply(dataDir);
  });

  /** Copies one event and one dead letter many times, each copy a millisecond later. */
  function multiply(directory: string): void {
    const db = new DatabaseSync(join(directory, "posthaste.db"));
    db.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${events})
      INSERT INTO events (tenant, at, message, step) SELECT tenant, at + i, message, step FROM n, events LIMIT ${events};
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
      INSERT INTO dead_letters (tenant, id, failed_at, reason, retried, message, body_of)
        SELECT tenant, (failed_at + i) || '-x', failed_at + i, reason, retried, message, body_of
        FROM n, dead_letters LIMIT 300000;
    `);
    db.close();
  }

  it.each<[string, ListOrder]>([
    ["events by state, the oldest first", "earliestFirst"],
    ["events by state, the latest first", "latestFirst"],
  ])("is read in many short turns: %s", async (_, order) => {
    const { messageLog } = openIn(dataDir);

    const { turns, value } = await turnsOf(() =>
      allPages((page) => messageLog.list(aTenant, { states: ["CANCELED"] }, page), order),
    );

    expect(value.items).toEqual([]);
    expect(value.pages).toBeGreaterThan(5);
    expect(turns).toBeGreaterThan(events / rowsPerTurnMax);
  });

  it("does not look at the other rows: dead letters of a time at the other end", async () => {
    const { deadLetters, clock } = openIn(dataDir);
    const to = clock.now() + 10;

    const { turns, value } = await turnsOf(() =>
      allPages((page) => deadLetters.list(aTenant, { to }, page), "latestFirst"),
    );

    expect(value.items).toHaveLength(11);
    expect(value.pages).toBe(1);
    // A walk from the latest letter would look at 300,000 rows, in hundreds of turns.
    expect(turns).toBeLessThan(10);
  });

  it("is read in many short turns: events of a message that has had a million", async () => {
    const { messageLog } = openIn(dataDir);
    const [entry] = (await messageLog.list(aTenant, {}, { limit: 1, order: "earliestFirst" }))
      .items;
    const messageIds = entry ? [entry.message.id] : [];

    const { turns, value } = await turnsOf(() =>
      messageLog.list(
        aTenant,
        { messageIds, states: ["CANCELED"] },
        { limit: 10, order: "latestFirst" },
      ),
    );

    expect(value.items).toEqual([]);
    expect(turns).toBeGreaterThan(rowsPerPage / rowsPerTurnMax);
  });
});

describe("a list of messages that were delivered within one second", () => {
  const published = 3_000;
  const labelled = 600;
  /** The most rows of a list, and labelled messages with their events, that a turn may read: they take a millisecond. */
  const [ofSecondMax, ofLabelMax] = [200, 20];
  const deliveredIn = async (dataDir: string) => {
    const store = openIn(dataDir);
    const { clock, deadLetters, ids, records } = store;
    const messages = Array.from({ length: published }, (_, nth) =>
      aMessage({
        id: ids.next(),
        now: clock.now(),
        policy: aPolicy({ labels: nth < labelled ? ["some"] : [] }),
      }),
    );
    const accepted = messages.map((message) => acceptClaimed(message, anOwner, clock.now()));
    await records.insert(
      accepted.map((record) => ({ record })),
      "new",
    );
    const attempt = anAttempt(anAnswer(200), { endedAt: clock.now() + 1, tookMs: 1 });
    await records.settle(
      accepted.map((record) => settleAttempt(record, attempt, { chance: 0, retryDelayMs: 0 })),
    );
    await deadLetters.insert(
      messages.slice(0, labelled).map((message): DeadLetter => {
        const failedAt = clock.now();
        const id = dlqIdOf(message.id, failedAt);
        return { id, failedAt, reason: "non_retryable", message, retried: 0 };
      }),
    );
    return store;
  };
  const orders = ["earliestFirst", "latestFirst"] as const;

  it("each page is read in many short turns, however many rows are before the first match", async () => {
    const dataDir = newDirectory();
    const { messageLog } = await deliveredIn(dataDir);

    expect(countRows(dataDir, "messages WHERE told IS NOT NULL")).toBe(published - labelled);
    for (const order of orders) {
      const { turns, value } = await turnsOf(() =>
        messageLog.list(aTenant, {}, { limit: 10, order }),
      );
      expect(value.items).toHaveLength(10);
      expect(turns).toBeGreaterThan((published - labelled) / ofSecondMax);
    }
  });

  it("is read in many short turns by a label that few have", async () => {
    const { messageLog, deadLetters } = await deliveredIn(newDirectory());

    for (const order of orders) {
      for (const list of [messageLog, deadLetters]) {
        const { turns, value } = await turnsOf<Page<unknown>>(() =>
          list.list(aTenant, { labels: ["some"] }, { limit: 10, order }),
        );
        expect(value.items).toHaveLength(10);
        expect(turns).toBeGreaterThan(labelled / ofLabelMax);
      }
    }
  });
});

describe("a list of large dead letters", () => {
  const letters = 30;
  const opened = async () => {
    const store = openIn(newDirectory());
    for (let i = 0; i < letters; i++) {
      const message = aMessage({ body: Buffer.alloc(2 * mebibyte, i) });
      const failedAt = store.clock.now() + i;
      const letter: DeadLetter = {
        id: dlqIdOf(message.id, failedAt),
        failedAt,
        reason: "non_retryable",
        message,
        retried: 0,
        response: anAnswer(500, { body: Buffer.alloc(mebibyte, i) }),
      };
      await store.deadLetters.insert([letter]);
    }
    return store.deadLetters;
  };
  const heldBytes = (items: readonly DeadLetter[]): number =>
    items.reduce(
      (sum, { message, response }) => sum + message.body.length + (response?.body.length ?? 0),
      0,
    );

  it("is read in pages that hold as much as one reading and a letter more, and leaves none out", async () => {
    const deadLetters = await opened();
    const held: number[] = [];

    const { items } = await allPages(async (page) => {
      const got = await deadLetters.list(aTenant, {}, page);
      held.push(heldBytes(got.items));
      return got;
    }, "earliestFirst");

    expect(items).toHaveLength(letters);
    expect(Math.max(...held)).toBeLessThanOrEqual(limits.readBytesMax + 3 * mebibyte);
  });

  it("reads no body when none is shown, and so is one page", async () => {
    const deadLetters = await opened();

    const page = { limit: 100, order: "latestFirst", bodyBytesMax: 0 } as const;
    const { items, next } = await deadLetters.list(aTenant, {}, page);

    expect([items.length, heldBytes(items), next]).toEqual([letters, 0, undefined]);
  });
});
