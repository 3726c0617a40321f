import { describe, expect, it } from "@jest/globals";
import { type AttemptFact, type Message } from "@posthaste/domain";
import { aMessage, aTenant, epochStart, newId } from "@posthaste/testing";
import { countedOnce, countsSwept, describeMessageLog } from "@posthaste/testing/contract";
import { freshDatabase, type Opened, patienceMs } from "../opened.fixture.ts";
import { repeated } from "../repeated.fixture.ts";
import { type Connection } from "../connection.ts";
import { createEventCounts } from "./counts.ts";
import { createMessageLog, messageLogIndexes } from "./message-log.ts";
import { servers } from "../servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, messageLogIndexes);
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
    return { ...harness(opened), log: createMessageLog(counting(opened.connection)) };
  });

  describeMessageLog(
    `${name}, each reply lost once`,
    async () => {
      const opened = await open();
      return { ...harness(opened), log: createMessageLog(counting(repeated(opened.connection))) };
    },
    [countedOnce, countsSwept].map((test) => ({
      test,
      reason: "rows whose reply was lost are not counted",
    })),
  );

  it(`${name}: no question of the message log reads a whole collection`, async () => {
    const { queries } = await open();

    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });

  describe("the message log", () => {
    it(
      "is swept in portions of so many messages, however many events they have, and events go by their own times",
      async () => {
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
      },
      patienceMs,
    );
  });
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
