/** A long outage of the bus, in virtual time: what is due goes out in time, however much there is to tell once the bus is back. */
import { describe, expect, it } from "@jest/globals";
import { accept, type MessageId, owner, type Settlement, settleAttempt } from "@posthaste/domain";
import { Standby } from "@posthaste/deliverer";
import { type EventBus, type Hint, type Records } from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  aPolicy,
  newId,
  recordingLog,
  type VirtualClock,
  virtualClock,
} from "@posthaste/testing";
import { modelDeadLetters } from "./model/dead-letters.ts";
import { modelGroups } from "./model/groups.ts";
import { modelMessageLog } from "./model/message-log.ts";
import { modelRecords } from "./model/records.ts";
import { modelSchedules } from "./model/schedules.ts";
import { modelTokenStore } from "./model/token-store.ts";

const outageMs = 600_000;
const publishedPerSecond = 300;
const tickMs = 100;
const latenessMsMax = 2_000;
const inputs = { chance: 0, retryDelayMs: undefined };

const away: EventBus = {
  publish: async () => {
    throw new Error("the bus is away");
  },
  subscribe: async () => async () => undefined,
  isUp: () => false,
  roomForRecords: () => 0,
  hears: () => false,
};

/** Claims what it is told of and settles it in the same moment; knows how many those were, and how late the latest. */
function instantDeliverer(records: Records, clock: VirtualClock) {
  let delivered = 0;
  let latestMs = 0;
  const deliver = async (hints: readonly Hint[]): Promise<void> => {
    const ids = hints.map(({ id }): MessageId => id);
    const claimed = await records.claim(ids, owner("deliverer"));
    const now = clock.now();
    delivered += claimed.length;
    for (const { message } of claimed) latestMs = Math.max(latestMs, now - message.notBefore);
    const attempt = anAttempt(anAnswer(200), { endedAt: now });
    await records.settle(
      claimed.map((record): Settlement => settleAttempt(record, attempt, inputs)),
    );
  };
  return {
    hear: (hints: readonly Hint[]) => void deliver(hints),
    get delivered() {
      return delivered;
    },
    get latestMs() {
      return latestMs;
    },
  };
}

describe("ten minutes without the bus, at 300 messages a second", () => {
  it("make no message later than two seconds, though each that is delivered keeps a fact to tell", async () => {
    const clock = virtualClock();
    const now = (): number => clock.now();
    const schedules = modelSchedules(now);
    const { ports } = modelRecords(now, schedules, modelMessageLog());
    const deliverer = instantDeliverer(ports.records, clock);
    const standby = new Standby(
      {
        ...ports,
        tokens: modelTokenStore(now).port,
        deadLetters: modelDeadLetters(),
        groups: modelGroups(now, () => true),
        schedules: schedules.port,
        tenants: new Map(),
        ids: { next: newId, positionAt: (time) => time },
        bus: away,
        clock,
        sha256: String,
        log: recordingLog(false),
      },
      deliverer.hear,
    );
    await standby.start();

    // A delivery with redactions is told by a fact, which waits for the bus.
    const policy = aPolicy({ redaction: { body: true, headers: [] } });
    for (let at = 0; at < outageMs; at += tickMs) {
      const published = Array.from({ length: (publishedPerSecond * tickMs) / 1_000 }, () => ({
        record: accept(aMessage({ now: now(), policy }), now(), true),
      }));
      await ports.records.insert(published);
      await clock.advance(tickMs);
      if (deliverer.latestMs > latenessMsMax) break;
    }
    await clock.advance(latenessMsMax);
    await standby.stop();

    expect(deliverer.latestMs).toBeLessThanOrEqual(latenessMsMax);
    expect(deliverer.delivered).toBe((publishedPerSecond * outageMs) / 1_000);
  }, 120_000);
});
