import { describe, expect, it } from "@jest/globals";
import { hash } from "node:crypto";
import {
  type AttemptFact,
  type LogFilter,
  type MessageId,
  type Sha256Hex,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import {
  aMessage,
  aPolicy,
  aTenant,
  dice,
  epochStart,
  recordingLog,
  seededRandom,
  virtualClock,
} from "@posthaste/testing";
import * as fc from "fast-check";
import { readsOf } from "../reads.fixture.ts";
import { livePage } from "./live-page.ts";
import { type LivePosition, parsePosition, positionText } from "./position.ts";

const sha256: Sha256Hex = (value) => hash("sha256", value, "hex");
const keyOf = ({ event, message }: LogEntry): string =>
  `${message.id} ${event.attempt} ${event.state}`;

type Opened = {
  readonly messageLog: MessageLog;
  readonly newId: () => MessageId;
  readonly close: () => Promise<void>;
};

function open(): Opened {
  const { close, ids, messageLog } = openEmbedded({
    dataDir: ":memory:",
    clock: virtualClock(),
    random: seededRandom(1),
    log: recordingLog(),
    schedule: queueMicrotask,
  });
  return { messageLog, newId: () => ids.next(), close };
}

/** Appends CREATED and ACTIVE at `at`, and DELIVERED a moment later. */
async function append({ messageLog, newId }: Opened, at: number, label = "any"): Promise<void> {
  const message = aMessage({ id: newId(), now: at, policy: aPolicy({ labels: [label] }) });
  const fact: AttemptFact = {
    kind: "fact",
    id: message.id,
    attempt: 0,
    startedAt: at,
    endedAt: at + 5,
    ended: "delivered",
  };
  await messageLog.append([{ message, fact }]);
}

/** Follows the log from its beginning: each call is one request, at the place that the one before returned. */
function follower({ messageLog }: Opened, limit: number, filter: LogFilter = {}) {
  let place: LivePosition = { since: 0, seen: [] };
  const keys: string[] = [];
  const next = async (now: number): Promise<boolean> => {
    const asked = { tenant: aTenant, filter, limit, bodyBytesMax: 0, now };
    const { log: list } = readsOf({ messageLog });
    const page = await livePage(list, sha256, {
      ...asked,
      place: parsePosition(positionText(place)),
    });
    place = page.placeAfter(page.items.length);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    expect(positionText(place).length).toBeLessThan(700);
    keys.push(...page.items.map(keyOf));
    return page.isFull;
  };
  return { keys, next, place: () => place };
}

const pagesMax = 10_000;
async function toTheEnd(next: () => Promise<boolean>): Promise<void> {
  for (let page = 0; await next(); page++) if (page > pagesMax) throw new Error("without end");
}

const allOf = async ({ messageLog }: Opened): Promise<readonly string[]> => {
  const { items } = await messageLog.list(aTenant, {}, { limit: 100_000, order: "earliestFirst" });
  return items.map(keyOf);
};

describe("a log that is followed while it is written", () => {
  it.each([1, 2, 7, 1_000])(
    "is returned without gap or repeat if rows come in the order of their times, %i at most on a page",
    async (limit) => {
      const opened = open();
      const { keys, next } = follower(opened, limit);
      for (let round = 0; round < 30; round++) {
        // Several messages in one millisecond, whose events alternate.
        for (let i = 0; i < round % 4; i++) await append(opened, epochStart + 100 * round);
        await toTheEnd(() => next(epochStart + 100 * round + 5));
      }

      expect(keys).toEqual(await allOf(opened));
      await opened.close();
    },
  );

  it("has each event that came within ten seconds of its time at least once, and repeats few", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(
          fc.record({
            afterMs: fc.integer({ min: 0, max: 2_000 }),
            lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9_900 })),
            count: fc.integer({ min: 1, max: 20 }),
            isRead: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        async (limit, writes) => {
          const opened = open();
          const { keys, next } = follower(opened, limit);
          let now = epochStart + 60_000;
          for (const { afterMs, lateMs, count, isRead } of writes) {
            now += afterMs;
            for (let i = 0; i < count; i++) await append(opened, now - lateMs);
            if (isRead) await next(now + 5);
          }
          await toTheEnd(() => next(now + 5));

          expect(new Set(keys)).toEqual(new Set(await allOf(opened)));
          await opened.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it("continues with events that come after the clock is set back, however many it had returned while the clock was ahead", async () => {
    const opened = open();
    const { keys, next } = follower(opened, 1_000);
    const ahead = epochStart + 2 * 86_400_000;
    for (let n = 0; n < 400; n++) await append(opened, ahead + 100 * n);
    await toTheEnd(() => next(ahead + 40_000));
    const told = keys.length;

    await toTheEnd(() => next(epochStart));
    for (const ms of [10, 1_000]) {
      await append(opened, epochStart + ms);
      await toTheEnd(() => next(epochStart + ms + 5));
    }

    expect(keys.slice(told)).toEqual((await allOf(opened)).slice(0, 6));
    await opened.close();
  });

  it("repeats no event of a quiet log when one comes late", async () => {
    const opened = open();
    const { keys, next } = follower(opened, 100);
    for (const ms of [0, 1_000, 2_000]) await append(opened, epochStart + ms);
    await next(epochStart + 2_005);

    await append(opened, epochStart + 500);
    await next(epochStart + 2_100);
    await next(epochStart + 2_200);

    expect(keys).toHaveLength(12);
    expect(new Set(keys).size).toBe(12);
    await opened.close();
  });

  it("goes past thousands of events of one millisecond, page by page", async () => {
    const opened = open();
    for (let i = 0; i < 1_200; i++) await append(opened, epochStart);
    const { keys, next } = follower(opened, 500);

    await toTheEnd(() => next(epochStart + 5));

    expect(keys).toHaveLength(3_600);
    expect(new Set(keys).size).toBe(3_600);
    await opened.close();
  });

  it("moves on while nothing is there that its filter takes, so that an hour of other events is not read again", async () => {
    const opened = open();
    const { next, place } = follower(opened, 100, { labels: ["rare"] });
    await append(opened, epochStart, "rare");
    await next(epochStart + 10);
    for (let i = 1; i < 60; i++) await append(opened, epochStart + 60_000 * i, "others");

    await next(epochStart + 3_600_000);

    expect(place()).toEqual({ since: epochStart + 3_590_000, seen: [], last: expect.anything() });
    await opened.close();
  });

  it("returns all of a burst whose rows come in any order while it is read", () => {
    return fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 5, max: 50 }), async (seed, limit) => {
        const opened = open();
        const { keys, next } = follower(opened, limit);
        const { shuffled } = dice(seed);
        const times = shuffled(Array.from({ length: 60 }, (_, n) => epochStart + 7 * n));
        for (const [n, at] of times.entries()) {
          await append(opened, at);
          if (n % 9 === 0) await next(epochStart + 1_000);
        }
        await toTheEnd(() => next(epochStart + 1_000));

        expect(new Set(keys).size).toBe(180);
        await opened.close();
      }),
      { numRuns: 20 },
    );
  });
});
