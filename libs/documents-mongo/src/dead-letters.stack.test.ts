import { describe, expect, it } from "@jest/globals";
import { type DeadLetter, dlqIdOf, limits } from "@posthaste/domain";
import { aMessage, anotherTenant, aTenant, epochStart, newId } from "@posthaste/testing";
import { describeDeadLetters } from "@posthaste/testing/contract";
import { createDeadLetters, deadLetterIndexes } from "./dead-letters.ts";
import { freshDatabase } from "./opened.fixture.ts";
import { repeated } from "./repeated.fixture.ts";
import { servers } from "./servers.fixture.ts";
import { createSizes } from "./sizes.ts";

const unknownCount = { reason: "how many were there is in the reply that was lost" };

const aLetter = (overrides: Partial<DeadLetter> = {}): DeadLetter => {
  const { message = aMessage(), failedAt = epochStart } = overrides;
  const id = dlqIdOf(message.id, failedAt);
  return { id, failedAt, reason: "non_retryable", message, retried: 0, ...overrides };
};

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, deadLetterIndexes);
  const opened = async () => createDeadLetters((await open()).connection);
  const harness = { ids: { next: newId }, close: () => Promise.resolve() };

  describeDeadLetters(name, async () => ({ ...harness, deadLetters: await opened() }));

  describeDeadLetters(
    `${name}, each reply lost once`,
    async () => {
      const { connection } = await open();
      return { ...harness, deadLetters: createDeadLetters(repeated(connection)) };
    },
    [
      {
        test: "a removal deletes the letters, and returns how many there were",
        ...unknownCount,
      },
      { test: "ten removals of one letter at once count it once", ...unknownCount },
    ],
  );

  it(`${name}: no query of dead letters reads a whole collection, nor does counting the dead letters of all tenants`, async () => {
    const { connection, queries } = await open();
    const letters = createDeadLetters(connection);
    await letters.insert([aLetter(), aLetter({ message: aMessage({ tenant: anotherTenant }) })]);

    expect(await createSizes(connection).deadLetters(10)).toBe(2);
    expect(await createSizes(connection).deadLetters(1)).toBe(1);
    expect(queries.unserved()).toEqual([]);
    expect(queries.count()).toBeGreaterThan(0);
  });

  describe("dead letters", () => {
    it("are a page of a hundred in one round trip, with their bodies", async () => {
      const { connection, queries } = await open();
      const letters = createDeadLetters(connection);
      const body = new Uint8Array(1_024);
      await letters.insert(
        Array.from({ length: 110 }, () => aLetter({ message: aMessage({ body }) })),
      );
      const sent = (): number => {
        const { find = 0, getMore = 0, killCursors = 0 } = queries.commands();
        return find + getMore + killCursors;
      };
      const before = sent();

      const page = { limit: 100, order: "latestFirst" } as const;
      const { items, next } = await letters.list(aTenant, {}, page);

      expect(items).toHaveLength(100);
      expect(next).toBeDefined();
      expect(sent() - before).toBe(1);
    });

    it("of two tenants may have the same id", async () => {
      const letters = await opened();
      const mine = aLetter();
      const theirs = aLetter({ id: mine.id, message: aMessage({ tenant: anotherTenant }) });

      await letters.insert([mine, theirs]);

      expect(await letters.get(aTenant, mine.id)).toEqual(mine);
      expect(await letters.get(anotherTenant, mine.id)).toEqual(theirs);
    });

    it("without an answer are found by status 0", async () => {
      const letters = await opened();
      const headers = [["X-A", "1"]] as const;
      const response = { status: 500, headers, body: Uint8Array.of(1), truncated: false };
      const silent = aLetter({ error: "no answer" });
      await letters.insert([silent, aLetter({ response })]);

      const filter = { responseStatuses: [0, 404] };
      const { items } = await letters.list(aTenant, filter, { limit: 9, order: "latestFirst" });

      expect(items).toEqual([silent]);
    });

    it("may be as large as a message and an answer can be", async () => {
      const letters = await opened();
      const body = new Uint8Array(10 * 1024 * 1024).fill(7);
      const response = {
        status: 500,
        headers: [],
        body: new Uint8Array(1024 * 1024).fill(8),
        truncated: false,
      };
      const large = aLetter({ message: aMessage({ body }), response });

      await letters.insert([large]);

      const read = await letters.get(aTenant, large.id);
      expect(Buffer.compare(read?.message.body ?? body.subarray(1), body)).toBe(0);
      expect(read?.response?.body.length).toBe(response.body.length);
    });

    it("are swept in portions, up to the limit", async () => {
      const letters = await opened();
      await letters.insert(Array.from({ length: 1_100 }, () => aLetter()));

      expect(await letters.sweep(aTenant, epochStart + 1, 1_050)).toBe(1_050);
      expect(await letters.sweep(aTenant, epochStart, 1_000)).toBe(0);
      expect(await letters.sweep(aTenant, epochStart + 1, limits.sweepBatchMax)).toBe(50);
    });
  });
});
