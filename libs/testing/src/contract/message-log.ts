/** The contract of `MessageLog`: entries appended once, twice or out of order read the same. */
import { expect } from "@jest/globals";
import {
  type AttemptFact,
  createdEvent,
  eventsOf,
  type LogFilter,
  limits,
  type ListOrder,
  listOrders,
  matchesLogged,
  type Message,
  type TenantId,
} from "@posthaste/domain";
import { type Ids, type LogEntry, type MessageLog } from "@posthaste/ports";
import { aMessage, anotherTenant, aTenant, type MessageOverrides } from "../builders/message.ts";
import { drawnFilters, drawnForMs, drawnMessage, logFields } from "../builders/drawn.ts";
import { anAnswer } from "../builders/outcome.ts";
import { dice } from "../seeded-random.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract, type Deviation, type Guarantee } from "./guarantee.ts";
import { bytesOfThree, fatHeaders, readAll, readByBytes } from "./paging.ts";

export type MessageLogHarness = Closable & {
  readonly messageLog: MessageLog;
  readonly ids: Pick<Ids, "next">;
  /** Lets a second pass, for an adapter that polls. */
  readonly aSecond?: () => Promise<void>;
};

export function describeMessageLog(
  name: string,
  open: () => Promise<MessageLogHarness>,
  deviations: readonly Deviation[] = [],
): void {
  contract(`${name}: a message log`, open, { deviations }, (it) => {
    appending(it);
    listing(it);
    watching(it);
    counting(it);
    sweeping(it);
  });
}

function appending(it: Guarantee<MessageLogHarness>): void {
  it("a message that was accepted has one event, and its configuration without the body", async (harness) => {
    const message = newMessage(harness);

    await harness.messageLog.append([{ message }]);

    const { body: _, ...configuration } = message;
    expect(await readLog(harness)).toEqual([
      { event: { at: message.createdAt, attempt: 0, state: "CREATED" }, message: configuration },
    ]);
  });

  it("a fact writes the events of its attempt, and CREATED where that is missing", async (harness) => {
    const message = newMessage(harness);
    const fact = factOf(message, { ended: "retry" });

    await harness.messageLog.append([{ message, fact }]);

    const read = await readLog(harness);
    expect(read.map(({ event }) => event)).toEqual([
      { at: message.createdAt, attempt: 0, state: "CREATED" },
      ...eventsOf(fact),
    ]);
  });

  it("ERROR, RETRY and FAILED have the attempt's fact, the others have none", async (harness) => {
    const message = newMessage(harness);
    const { kind: _, ...response } = anAnswer(500, {
      headers: [["X-A", "1"]],
      body: Uint8Array.of(0, 0xff),
    });
    const again = { nextDeliveryAt: epochStart + 9_000, response };
    const first = factOf(message, { ended: "retry", ...again });
    const second = factOf(message, { ended: "failed", attempt: 1, error: "no answer" });

    await harness.messageLog.append([
      { message, fact: first },
      { message, fact: second },
    ]);

    const facts = (await readLog(harness)).map(({ event, fact }) => [event.state, fact]);
    expect(facts).toEqual([
      ["CREATED", undefined],
      ["ACTIVE", undefined],
      ["ERROR", first],
      ["RETRY", first],
      ["ACTIVE", undefined],
      ["ERROR", second],
      ["FAILED", second],
    ]);
  });

  it("an attempt that was answered keeps status and size, however long it took and however it ended", async (harness) => {
    const answered = { status: 201, bytes: 70_000 };
    const refused = { status: 500, bytes: 3 };
    const told = await Promise.all(
      [10, 5_000].map(async (tookMs) => {
        const message = newMessage(harness);
        const [first, second] = [0, 1].map((attempt) => {
          const startedAt = message.createdAt + 10 + 10_000 * attempt;
          return { attempt, startedAt, endedAt: startedAt + tookMs };
        });
        const retried = factOf(message, { ...first, ended: "retry", answered: refused });
        const delivered = factOf(message, { ...second, ended: "delivered", answered });
        const atOnce = newMessage(harness);
        const once = factOf(atOnce, { ...first, ended: "delivered", answered });
        await harness.messageLog.append([
          { message, fact: retried },
          { message, fact: delivered },
          { message: atOnce, fact: once },
        ]);
        return [
          { id: message.id, state: "ERROR", answered: refused },
          { id: message.id, state: "RETRY", answered: refused },
          { id: message.id, state: "DELIVERED", answered },
          { id: atOnce.id, state: "DELIVERED", answered },
        ];
      }),
    );

    const read = (await readLog(harness)).flatMap(({ event, fact, message: { id } }) => {
      const of = event.answered ?? fact?.answered;
      return of ? [{ id, state: event.state, answered: of }] : [];
    });
    expect(read).toHaveLength(8);
    expect(read).toEqual(expect.arrayContaining(told.flat()));
  });

  it("an attempt that was cancelled has begun, and each event is listed once", async (harness) => {
    const message = newMessage(harness);
    const fact = factOf(message, { ended: "canceled" });

    await harness.messageLog.append([{ message, fact }]);
    await harness.messageLog.append([{ message, fact }]);

    const states = ["CREATED", "ACTIVE", "CANCEL_REQUESTED", "CANCELED"];
    expect((await readLog(harness)).map(({ event }) => event.state)).toEqual(states);
  });

  it("the answer to a failed attempt is kept up to 64 KiB", async (harness) => {
    const message = newMessage(harness);
    const body = dice(1).bytes(limits.logResponseBytesMax + 1);
    const fact = factOf(message, { ended: "failed", response: anAnswer(500, { body }) });

    await harness.messageLog.append([{ message, fact }]);

    const error = (await readLog(harness)).find(({ event }) => event.state === "ERROR");
    const kept = error?.fact?.response?.body ?? new Uint8Array();
    expect(Buffer.compare(kept, body.subarray(0, limits.logResponseBytesMax))).toBe(0);
  });

  it("an event that is written again changes nothing", async (harness) => {
    const message = newMessage(harness);
    const entries = [{ message }, { message, fact: factOf(message, { ended: "delivered" }) }];
    await harness.messageLog.append(entries);
    const once = await readLog(harness);

    await harness.messageLog.append([...entries, ...entries]);
    await Promise.all([harness.messageLog.append(entries), harness.messageLog.append(entries)]);
    await harness.messageLog.append([]);

    expect(await readLog(harness)).toEqual(once);
    expect(once).toHaveLength(3);
  });

  it("events that are written in another order read the same", async (harness) => {
    const message = newMessage(harness);
    const ends = ["retry", "retry", "delivered"] as const;
    const facts = ends.map((ended, attempt) => factOf(message, { ended, attempt }));
    for (const fact of facts.toReversed()) await harness.messageLog.append([{ message, fact }]);
    await harness.messageLog.append([{ message }]);

    const tried = ["ACTIVE", "ERROR", "RETRY"];
    const states = ["CREATED", ...tried, ...tried, "ACTIVE", "DELIVERED"];
    expect((await readLog(harness)).map(({ event }) => event.state)).toEqual(states);
  });
}

function listing(it: Guarantee<MessageLogHarness>): void {
  for (const order of listOrders) listingIn(order, it);

  it("the last page has no cursor", async (harness) => {
    await appendMany(harness, 2);

    const exact = await harness.messageLog.list(aTenant, {}, { limit: 6, order: "earliestFirst" });
    const less = await harness.messageLog.list(aTenant, {}, { limit: 5, order: "earliestFirst" });

    expect(exact.next).toBeUndefined();
    expect(less.next).toBeDefined();
  });

  it("a tenant reads its own log only", async (harness) => {
    const mine = newMessage(harness);
    const theirs = newMessage(harness, { tenant: anotherTenant });
    await harness.messageLog.append([{ message: mine }, { message: theirs }]);

    expect(idsIn(await readLog(harness))).toEqual([mine.id]);
    expect(await readLog(harness, { messageIds: [theirs.id] })).toEqual([]);
    const read = await readLog(harness, {}, "earliestFirst", 10, anotherTenant);
    expect(idsIn(read)).toEqual([theirs.id]);
  });

  it("a list is narrowed to some messages, known or not", async (harness) => {
    const [first, second, third] = [newMessage(harness), newMessage(harness), newMessage(harness)];
    await harness.messageLog.append([first, second, third].map((message) => ({ message })));

    const found = await readLog(harness, { messageIds: [third.id, harness.ids.next(), first.id] });

    expect(idsIn(found).toSorted()).toEqual([first.id, third.id].toSorted());
    expect(await readLog(harness, { messageIds: [] })).toEqual([]);
  });
}

function listingIn(order: ListOrder, it: Guarantee<MessageLogHarness>): void {
  const inOrder = <T>(earliestFirst: readonly T[]): readonly T[] =>
    order === "earliestFirst" ? earliestFirst : earliestFirst.toReversed();
  const timesOf = (events: readonly { readonly at: number }[]): readonly number[] =>
    inOrder(events.map(({ at }) => at).toSorted((a, b) => a - b));

  it(`a list is ordered by time, page by page, without gap or repeat: ${order}`, async (harness) => {
    await appendMany(harness, 20);
    const whole = await readLog(harness, {}, order);

    for (const limit of [1, 7, 59, 60, 61, 1_000])
      expect(await readLog(harness, {}, order, limit)).toEqual(whole);
    expect(whole).toHaveLength(60);
    const events = whole.map(({ event }) => event);
    expect(events.map(({ at }) => at)).toEqual(timesOf(events));
  });

  it(`a page ends with the event that fills its bytes, and the next page follows it: ${order}`, async (harness) => {
    const messages = Array.from({ length: 7 }, (_, i) =>
      newMessage(harness, { headers: fatHeaders, now: epochStart + i }),
    );
    await harness.messageLog.append(messages.map((message) => ({ message })));

    const { items, lengths } = await readByBytes(
      (page) => harness.messageLog.list(aTenant, {}, { ...page, order }),
      bytesOfThree,
    );

    expect(lengths).toEqual([3, 3, 1]);
    expect(idsIn(items)).toEqual(inOrder(messages.map(({ id }) => id)));
  });

  it(`pages do not shift while others write: ${order}`, async (harness) => {
    await appendMany(harness, 10);
    const before = (await readLog(harness, {}, order)).map(keyOf);

    const list = (page: Parameters<MessageLog["list"]>[2]) =>
      harness.messageLog.list(aTenant, {}, page);
    const disturbed = await readAll(list, 4, order, () => appendMany(harness, 2));

    const keys = disturbed.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.filter((key) => before.includes(key))).toEqual(before);
  });

  it(`messages in progress at the same time are listed event by event, on pages of any size: ${order}`, async (harness) => {
    const { shuffled } = dice(7);
    // Each message takes longer than the time to the next one, some longer than a second.
    const entries = Array.from({ length: 24 }, (_, n) => {
      const message = newMessage(harness, { now: epochStart + 40 * n });
      const startedAt = message.createdAt + 30;
      const endedAt = startedAt + ((n * 171) % 1_500);
      return { message, fact: factOf(message, { startedAt, endedAt, ended: "delivered" }) };
    });
    await harness.messageLog.append(entries.slice(0, 8).map(({ message }) => ({ message })));
    await harness.messageLog.append(shuffled(entries));
    const events = entries.flatMap(({ message: { id, createdAt }, fact }) =>
      [createdEvent(createdAt), ...eventsOf(fact)].map(({ at, state }) => ({ at, state, id })),
    );
    const filters: readonly LogFilter[] = [
      {},
      { states: ["CREATED"] },
      { states: ["ACTIVE", "DELIVERED"] },
      { from: epochStart + 300, to: epochStart + 900 },
      { to: epochStart + 501, states: ["CREATED", "ACTIVE"] },
    ];

    for (const filter of filters) {
      const { from = 0, to = Infinity, states } = filter;
      const wanted = events.filter(
        ({ at, state }) => at >= from && at <= to && (states?.includes(state) ?? true),
      );
      for (const limit of [1, 2, 5, 71, 72, 100]) {
        const read = await readLog(harness, filter, order, limit);
        const told = read.map(({ event: { at, state }, message: { id } }) => ({ at, state, id }));
        expect(told.map(({ at }) => at)).toEqual(timesOf(wanted));
        expect(new Set(told.map((each) => JSON.stringify(each)))).toEqual(
          new Set(wanted.map((each) => JSON.stringify(each))),
        );
      }
    }
  });

  it(`a list continues behind the position of any of its items, in either order: ${order}`, async (harness) => {
    const { messageLog } = harness;
    await appendMany(harness, 4);
    const { items, positions } = await messageLog.list(aTenant, {}, { limit: 100, order });

    expect(new Set(positions).size).toBe(12);
    for (const [i, after] of positions.entries()) {
      const page = { after, limit: 100 };
      const behind = await messageLog.list(aTenant, {}, { ...page, order });
      const back = order === "earliestFirst" ? "latestFirst" : "earliestFirst";
      const before = await messageLog.list(aTenant, {}, { ...page, order: back });
      expect(behind).toEqual({ items: items.slice(i + 1), positions: positions.slice(i + 1) });
      expect(before.positions).toEqual(positions.slice(0, i).toReversed());
    }
  });

  // Each drawn filter finds the matches of the whole list, by whichever index.
  it(`pages by any filters have the events that match all of them: ${order}`, async (harness) => {
    const chance = dice(order.length);
    const ends = ["delivered", "failed", "retry"] as const;
    const entries = Array.from({ length: 60 }, () => {
      const message = newMessage(harness, drawnMessage(chance, epochStart));
      const startedAt = epochStart + chance.integer(0, drawnForMs);
      const ended = chance.pick(ends);
      return { message, fact: factOf(message, { ended, startedAt, endedAt: startedAt + 1 }) };
    });
    await harness.messageLog.append(entries);
    const whole = await readLog(harness, {}, order);

    const ids = entries.map(({ message }) => message.id);
    for (const filter of drawnFilters(chance, logFields(chance, epochStart, ids))) {
      const found = await readLog(harness, filter, order, chance.integer(1, 40));

      const right = whole.filter(({ event, message }) => matchesLogged(filter, event, message));
      expect([filter, found.map(keyOf)]).toEqual([filter, right.map(keyOf)]);
    }
  });
}

function watching(it: Guarantee<MessageLogHarness>): void {
  it("a watcher of a tenant's log is called for new events", async (harness) => {
    const message = newMessage(harness);
    const facts = [factOf(message, { ended: "retry" }), factOf(message, { ended: "delivered" })];

    for (const entry of [{ message }, ...facts.map((fact) => ({ message, fact }))]) {
      const grown = nextGrowth(harness);
      await harness.messageLog.append([entry]);
      await harness.aSecond?.();
      await grown;
    }

    expect((await readLog(harness)).length).toBeGreaterThan(0);
  });

  it("a watcher that has ended is not called", async (harness) => {
    let told = 0;
    const stop = harness.messageLog.watch(aTenant, () => (told += 1));
    stop();

    const grown = nextGrowth(harness);
    await harness.messageLog.append([{ message: newMessage(harness) }]);
    await harness.aSecond?.();
    await grown;

    expect(told).toBe(0);
  });
}

const nextGrowth = ({ messageLog }: MessageLogHarness): Promise<void> =>
  new Promise((resolve) => {
    const stop = messageLog.watch(aTenant, () => {
      stop();
      resolve();
    });
  });

export const countedOnce =
  "events are counted by minute and state, each once, however often it is told";

export const countsSwept = "counts go with the log, hour by hour";

function counting(it: Guarantee<MessageLogHarness>): void {
  it(countedOnce, async (harness) => {
    const { messageLog } = harness;
    const message = newMessage(harness, { now: epochStart });
    const theirs = newMessage(harness, { now: epochStart, tenant: anotherTenant });
    const at = (startedAt: number, attempt: number) => ({
      startedAt,
      endedAt: startedAt + 5,
      attempt,
    });
    const entries = [
      { message, fact: factOf(message, { ended: "retry", ...at(epochStart, 0) }) },
      { message, fact: factOf(message, { ended: "retry", ...at(epochStart + 59_000, 1) }) },
      { message, fact: factOf(message, { ended: "failed", ...at(epochStart + 59_997, 2) }) },
      // Beyond the hour.
      { message, fact: factOf(message, { ended: "delivered", ...at(epochStart + 3_700_000, 3) }) },
      { message: theirs, fact: factOf(theirs, { ended: "canceled", ...at(epochStart, 0) }) },
    ];
    const all = [
      { minute: epochStart, counts: { ACTIVE: 3, ERROR: 2, RETRY: 2 } },
      { minute: epochStart + 60_000, counts: { ERROR: 1, FAILED: 1 } },
      { minute: epochStart + 61 * 60_000, counts: { ACTIVE: 1, DELIVERED: 1 } },
    ];

    await messageLog.append(entries.slice(0, 3));
    await messageLog.append(entries);
    await messageLog.append(entries.toReversed());

    expect(await messageLog.counts(aTenant, epochStart, epochStart + 7_200_000)).toEqual(all);
    expect(await messageLog.counts(aTenant, epochStart + 59_999, epochStart + 60_000)).toEqual(
      all.slice(0, 2),
    );
    expect(await messageLog.counts(aTenant, epochStart + 60_000, epochStart + 3_600_000)).toEqual(
      all.slice(1, 2),
    );
    expect(await messageLog.counts(anotherTenant, 0, epochStart + 1)).toEqual([
      { minute: epochStart, counts: { ACTIVE: 1, CANCEL_REQUESTED: 1, CANCELED: 1 } },
    ]);
  });

  it(countsSwept, async (harness) => {
    const { messageLog } = harness;
    const message = newMessage(harness, { now: epochStart });
    const fact = (startedAt: number, attempt: number) =>
      factOf(message, { ended: "retry", startedAt, endedAt: startedAt + 5, attempt });
    await messageLog.append(
      [0, 3_600_000, 7_200_000].map((ms, n) => ({ message, fact: fact(epochStart + ms, n) })),
    );

    expect(await messageLog.counts(aTenant, 0, epochStart + 8_000_000)).toHaveLength(3);

    await messageLog.sweep(aTenant, epochStart + 3_600_000, 100);

    const left = await messageLog.counts(aTenant, 0, epochStart + 8_000_000);
    expect(left.map(({ minute }) => minute)).toEqual(
      [3_600_000, 7_200_000].map((ms) => epochStart + ms),
    );
  });
}

function sweeping(it: Guarantee<MessageLogHarness>): void {
  it("a sweep removes older events, of no more messages than its limit, and leaves the rest", async (harness) => {
    for (let i = 0; i < 6; i++)
      await harness.messageLog.append([{ message: newMessage(harness, { now: epochStart + i }) }]);
    const theirs = newMessage(harness, { now: epochStart, tenant: anotherTenant });
    await harness.messageLog.append([{ message: theirs }]);

    for (const count of [3, 1, 0])
      expect(await harness.messageLog.sweep(aTenant, epochStart + 4, 3)).toBe(count);

    const all = { limit: 10, order: "earliestFirst" } as const;
    expect((await harness.messageLog.list(anotherTenant, {}, all)).items).toHaveLength(1);
    const left = (await readLog(harness)).map(({ event }) => event.at - epochStart);
    expect(left).toEqual([4, 5]);
  });
}

let made = 0;

/** Makes each message a little later than the last, so that the log lists them in this order. */
function newMessage({ ids }: MessageLogHarness, overrides: MessageOverrides = {}): Message {
  made += 1;
  return aMessage({ id: ids.next(), now: epochStart + made, body: new Uint8Array(), ...overrides });
}

function factOf(
  message: Message,
  overrides: Pick<AttemptFact, "ended"> & Partial<AttemptFact>,
): AttemptFact {
  const { attempt = 0 } = overrides;
  const startedAt = message.createdAt + 1_000 * (attempt + 1);
  const times = { startedAt, endedAt: startedAt + 250 };
  return { kind: "fact", id: message.id, attempt, ...times, ...overrides };
}

async function appendMany(harness: MessageLogHarness, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const message = newMessage(harness);
    await harness.messageLog.append([{ message, fact: factOf(message, { ended: "delivered" }) }]);
  }
}

const readLog = (
  { messageLog }: MessageLogHarness,
  filter: LogFilter = {},
  order: ListOrder = "earliestFirst",
  limit = 1_000,
  tenant: TenantId = aTenant,
): Promise<readonly LogEntry[]> =>
  readAll((page) => messageLog.list(tenant, filter, page), limit, order);

const keyOf = ({ event, message }: LogEntry): string =>
  `${message.id} ${event.attempt} ${event.state}`;

const idsIn = (entries: readonly LogEntry[]): readonly string[] =>
  entries.map(({ message }) => message.id);
