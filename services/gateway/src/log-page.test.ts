import { describe, expect, it } from "@jest/globals";
import {
  type AttemptFact,
  limits,
  type LogFilter,
  type ListOrder,
  type Message,
  type MessageId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import { aMessage, aTenant, dice, epochStart } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { readsOf } from "./reads.fixture.ts";
import { logPage } from "./log-page.ts";

type Opened = { readonly messageLog: MessageLog; readonly newId: () => MessageId };

function open(): Opened {
  const { ids, messageLog } = openInMemory(openEmbedded).store;
  return { messageLog, newId: () => ids.next() };
}

/** Appends a message accepted at the first of `times`, with a failed attempt at each later one, and delivered at the last. */
async function append({ messageLog, newId }: Opened, times: readonly number[]): Promise<Message> {
  const [createdAt = epochStart, ...attempts] = times;
  const message = aMessage({ id: newId(), now: createdAt });
  const facts = attempts.map((at, attempt): AttemptFact => {
    const isLast = attempt === attempts.length - 1;
    const common = { kind: "fact", id: message.id, attempt, startedAt: at, endedAt: at } as const;
    return { ...common, ended: isLast ? "delivered" : "retry" };
  });
  await messageLog.append([{ message }, ...facts.map((fact) => ({ message, fact }))]);
  return message;
}

type Walk = {
  readonly filter?: LogFilter;
  readonly order?: ListOrder;
  readonly limit: number;
};

const pagesMax = 10_000;

async function walk(
  log: MessageLog,
  { filter = {}, order = "latestFirst", limit }: Walk,
): Promise<readonly (readonly LogEntry[])[]> {
  const pages: (readonly LogEntry[])[] = [];
  let after: string | undefined;
  do {
    const page = { limit, order, ...(after !== undefined && { after }) };
    const { log: list } = readsOf({ messageLog: log });
    const answer = await logPage(list, aTenant, { filter, byMessage: true }, page);
    pages.push(answer.items.flat());
    after = answer.next;
  } while (after !== undefined && pages.length < pagesMax);
  return pages;
}

const idsOf = (items: readonly LogEntry[]): readonly MessageId[] => [
  ...new Set(items.map(({ message }) => message.id)),
];

const minute = (n: number): number => epochStart + n * 60_000;

describe("the log by message", () => {
  it("has the requested number of messages on a page, each with all its events, also events far apart", async () => {
    const opened = open();
    const slow = await append(opened, [minute(0), minute(1), minute(90)]);
    const quick = await append(opened, [minute(2), minute(3)]);
    const last = await append(opened, [minute(4), minute(5)]);

    const pages = await walk(opened.messageLog, { limit: 2, order: "earliestFirst" });

    expect(pages.map(idsOf)).toEqual([[slow.id, quick.id], [last.id]]);
    const states = pages[0]?.flatMap(({ event, message }) =>
      message.id === slow.id ? [event.state] : [],
    );
    expect(states).toEqual(["CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED"]);
  });

  it("begins with the message that something has happened to most recently", async () => {
    const opened = open();
    const slow = await append(opened, [minute(0), minute(9)]);
    const quick = await append(opened, [minute(1), minute(2)]);

    const pages = await walk(opened.messageLog, { limit: 1 });

    expect(pages.flatMap(idsOf)).toEqual([slow.id, quick.id]);
  });

  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    "has each message on exactly one page, with all of its events that the filter wants (seed %i)",
    async (seed) => {
      const opened = open();
      const { messageLog } = opened;
      const chance = dice(seed);
      const messages: Message[] = [];
      for (let i = 0; i < 25; i++) {
        const attempts = chance.integer(0, 6);
        const times = Array.from({ length: attempts + 1 }, () => minute(chance.integer(0, 40)));
        messages.push(
          await append(
            opened,
            times.toSorted((a, b) => a - b),
          ),
        );
      }
      const filters: readonly LogFilter[] = [{}, { states: ["ERROR", "DELIVERED"] }];

      for (const order of ["earliestFirst", "latestFirst"] as const) {
        for (const filter of filters) {
          const limit = chance.integer(1, 10);
          const all = await messageLog.list(aTenant, filter, { limit: 10_000, order });
          const pages = await walk(messageLog, { filter, limit, order });

          expect(pages.flatMap(idsOf).toSorted()).toEqual(idsOf(all.items).toSorted());
          expect(pages.flat()).toHaveLength(all.items.length);
          for (const page of pages) expect(idsOf(page).length).toBeLessThanOrEqual(limit);
        }
      }
    },
  );

  it("puts fewer messages on a page rather than cut their events, when they have very many", async () => {
    const opened = open();
    const times = Array.from({ length: 151 }, (_, i) => minute(i));
    for (let i = 0; i < 10; i++) await append(opened, times);

    const pages = await walk(opened.messageLog, { limit: 10 });

    expect(pages.flatMap(idsOf)).toHaveLength(10);
    const counts = pages.flatMap((page) => [
      ...Map.groupBy(page, ({ message }) => message.id).values(),
    ]);
    expect(new Set(counts.map((events) => events.length))).toEqual(new Set([150 * 3]));
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(1_000);
  });

  it("does not lose a message behind another that has more events than a page", async () => {
    const opened = open();
    const endless = await append(
      opened,
      Array.from({ length: 500 }, (_, i) => minute(i)),
    );
    const between = await append(opened, [minute(450) + 1, minute(450) + 2]);

    const pages = await walk(opened.messageLog, { limit: 10, order: "earliestFirst" });

    expect(pages.flatMap(idsOf)).toEqual([endless.id, between.id]);
    expect(pages.flat().filter(({ message }) => message.id === between.id)).toHaveLength(3);
  });

  it("keeps a message on the first page to which something happens while the page is read", async () => {
    const opened = open();
    const message = await append(opened, [minute(0), minute(1)]);
    let calls = 0;
    const list: MessageLog["list"] = async (...args) => {
      const answer = await opened.messageLog.list(...args);
      calls += 1;
      if (calls > 1) return answer;
      const fact: AttemptFact = {
        kind: "fact",
        id: message.id,
        attempt: 1,
        startedAt: minute(2),
        endedAt: minute(2),
        ended: "delivered",
      };
      await opened.messageLog.append([{ message, fact }]);
      return answer;
    };

    const pages = await walk({ ...opened.messageLog, list }, { limit: 10 });

    expect(pages.map(idsOf)).toEqual([[message.id]]);
    expect(pages.flat()).toHaveLength(5);
  });

  it.each([
    { when: "later", at: minute(50) },
    { when: "in the same millisecond", at: minute(3) },
  ])(
    "has no message twice and none left out because others come in front of the first page $when",
    async ({ at }) => {
      const opened = open();
      const old = [];
      for (let i = 0; i < 4; i++) old.push(await append(opened, [minute(i)]));
      let calls = 0;
      const list: MessageLog["list"] = async (...args) => {
        const answer = await opened.messageLog.list(...args);
        calls += 1;
        if (calls === 1) for (let i = 0; i < 2; i++) await append(opened, [at]);
        return answer;
      };

      const pages = await walk({ ...opened.messageLog, list }, { limit: 2 });

      expect(pages[0]).toHaveLength(2);
      expect(pages.flat().map(({ message }) => message.id)).toEqual(
        old.map(({ id }) => id).toReversed(),
      );
    },
  );

  it("looks at a hundred messages for one page at the most", async () => {
    const opened = open();
    for (let i = 0; i < 250; i++) await append(opened, [minute(0), minute(1)]);
    let calls = 0;
    let callsMost = 0;
    const list: MessageLog["list"] = async (tenant, filter, page) => {
      calls = filter.messageIds ? calls + 1 : 0;
      callsMost = Math.max(callsMost, calls);
      return opened.messageLog.list(tenant, filter, page);
    };

    const pages = await walk({ ...opened.messageLog, list }, { limit: 10 });

    expect(pages.flatMap(idsOf)).toHaveLength(250);
    expect(callsMost).toBe(101);
  });

  it("holds fewer messages when their headers are long, and has none twice or left out", async () => {
    const opened = open();
    const headers = [["X-Fat", "v".repeat(30_000)]] as const;
    for (let i = 0; i < 60; i++) {
      const message = aMessage({ id: opened.newId(), now: minute(i), headers });
      const common = { kind: "fact", id: message.id, attempt: 0, startedAt: minute(i) } as const;
      const fact = { ...common, endedAt: minute(i) + 1, ended: "delivered" } as const;
      await opened.messageLog.append([{ message, fact }]);
    }

    const pages = await walk(opened.messageLog, { limit: 100 });

    const lengths = pages.map((page) => page.length * 30_000);
    expect(Math.max(...lengths)).toBeLessThan(limits.pageBytesMax + 3 * 31_000);
    expect(pages.flatMap(idsOf)).toHaveLength(60);
    expect(new Set(pages.flatMap(idsOf)).size).toBe(60);
  });

  it("is one empty page when nothing was logged", async () => {
    expect(await walk(open().messageLog, { limit: 10 })).toEqual([[]]);
  });
});

describe("the log by event", () => {
  it("is the whole log, page by page", async () => {
    const opened = open();
    await append(opened, [minute(0), minute(1)]);
    const page = { limit: 2, order: "earliestFirst" } as const;

    const { log } = readsOf({ messageLog: opened.messageLog });
    const { items, ...rest } = await logPage(log, aTenant, { filter: {}, byMessage: false }, page);

    expect(items.flat().map(({ event }) => event.state)).toEqual(["CREATED", "ACTIVE"]);
    expect({ ...rest, items: items.flat() }).toEqual(
      await opened.messageLog.list(aTenant, {}, page),
    );
  });
});
