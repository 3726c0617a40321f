import { describe, expect, it } from "@jest/globals";
import { type AttemptFact, type Message } from "@posthaste/domain";
import { aMessage, aTenant, epochStart, newId } from "@posthaste/testing";
import { countedOnce, countsSwept, describeMessageLog, readAll } from "@posthaste/testing/contract";
import { messageIndexes } from "../messages/stored.ts";
import { freshDatabase, type Opened, readsNoWholeCollection } from "../opened.fixture.ts";
import { repeated } from "../repeated.fixture.ts";
import { type Connection } from "../connection.ts";
import { digitsOf, type Placed } from "../query/placed.ts";
import { createEventCounts } from "./counts.ts";
import { createMessageLog, messageLogIndexes } from "./message-log.ts";
import { acrossCursor } from "./reading.ts";
import { type LogItem } from "./rows.ts";
import { servers } from "../servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, [...messageLogIndexes, ...messageIndexes]);
  const opened = async () => createMessageLog((await open()).connection);
  const counting = (connection: Connection): Connection => ({
    ...connection,
    counts: createEventCounts(connection),
  });
  const harness = ({ clock }: Opened) => ({
    ids: { next: newId },
    aSecond: () => clock.advance(1_000),
    close: () => Promise.resolve(),
  });

  describeMessageLog(name, async () => {
    const opened = await open();
    return { ...harness(opened), messageLog: createMessageLog(counting(opened.connection)) };
  });

  describeMessageLog(
    `${name}, each reply lost once`,
    async () => {
      const opened = await open();
      return {
        ...harness(opened),
        messageLog: createMessageLog(counting(repeated(opened.connection))),
      };
    },
    [countedOnce, countsSwept].map((test) => ({
      test,
      reason: "rows whose reply was lost are not counted",
    })),
  );

  readsNoWholeCollection("the message log", open);

  describe("the message log", () => {
    it("is swept in portions of so many messages, however many events they have, and events go by their own times", async () => {
      const log = await opened();
      const message = aMessage({ now: epochStart });
      const attempts = Array.from({ length: 400 }, (_, n) => retryOf(message, n, epochStart + n));
      const other = aMessage({ now: epochStart + 300 });
      await log.append([
        ...attempts.map((fact) => ({ message, fact })),
        { message: other, fact: retryOf(other, 0, epochStart + 300) },
      ]);

      const counts: number[] = [];
      do counts.push(await log.sweep(aTenant, epochStart + 390, 1));
      while (counts.at(-1) !== 0);
      const { items } = await log.list(aTenant, {}, { limit: 100, order: "earliestFirst" });

      expect(counts).toEqual([1, 1, 1, 0]);
      expect(items.map(({ event }) => event.at)).toEqual(
        Array.from({ length: 30 }, (_, i) => epochStart + 390 + Math.floor(i / 3)),
      );
    });

    it("looks at no more than names and times of rows behind a page that reach across its end, along the index", async () => {
      const { connection } = await open();
      const log = createMessageLog(connection);
      const headers = [["x-large", "h".repeat(10_000)]] as const;
      const messages = Array.from({ length: 40 }, (_, n) =>
        aMessage({ now: epochStart + n, headers }),
      );
      await log.append(
        messages.map((message) => ({ message, fact: deliveredAfter(message, 500) })),
      );

      const rows = connection.collection<Placed<LogItem>>("message_log");
      const cursor = acrossCursor(
        rows,
        { tenant: aTenant, conditions: {} },
        digitsOf(epochStart + 500),
      );
      const looked = await cursor.clone().toArray();
      const pages = await readAll((page) => log.list(aTenant, {}, page), 7, "latestFirst");

      expect(looked).toHaveLength(40);
      expect(JSON.stringify(looked).length).toBeLessThan(40 * 400);
      expect(pages.map(({ event }) => event.at)).toEqual(
        pages.map(({ event }) => event.at).toSorted((a, b) => b - a),
      );
      expect(pages).toHaveLength(3 * 40);
      expect(pages.every(({ message }) => message.headers[0]?.[1].length === 10_000)).toBe(true);
      expect(JSON.stringify(await cursor.clone().explain("queryPlanner"))).toContain(
        "tenant_1_place_1",
      );
    });
  });
});

const deliveredAfter = ({ id, createdAt }: Message, ms: number): AttemptFact => ({
  kind: "fact",
  id,
  attempt: 0,
  startedAt: createdAt,
  endedAt: createdAt + ms,
  ended: "delivered",
});

/** Three events of one millisecond. */
const retryOf = ({ id }: Message, attempt: number, at: number): AttemptFact => ({
  kind: "fact",
  id,
  attempt,
  startedAt: at,
  endedAt: at,
  ended: "retry",
});
