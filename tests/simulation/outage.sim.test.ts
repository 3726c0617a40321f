/**
 * Tests a long outage of the bus and its aftermath, in virtual time: due messages are sent in time, however many
 * facts wait once the bus is back, and facts are published once, a bounded number at a time.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import { Standby } from "@posthaste/engine";
import {
  accept,
  allShards,
  limits,
  type MessageId,
  owner,
  type Settlement,
  settleAttempt,
} from "@posthaste/domain";
import { announce, type FollowUpPorts, reportSettled } from "@posthaste/engine";
import { type EventBus, type Hint, pause, type SettledEvent } from "@posthaste/ports";
import { Scheduler } from "@posthaste/scheduler";
import {
  aCallbackPlan,
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
const afterwardsMs = 60_000;
/** At three hundred it takes minutes. */
const publishedPerSecond = Number(process.env["POSTHASTE_TEST_OUTAGE_RATE"] ?? 100);
const tickMs = 100;
/** One message in a hundred has a callback. */
const callbackEvery = 100;
const latenessMsMax = 2_000;
/** The time of one publish of facts once the bus is back, and the time until any event is handled. */
const factsMs = 20;
const hopMs = 5;
/** Two batches of a ring at once, of the scheduler and of the standby, and the messages delivered meanwhile. */
const tellingMostMax = 2 * 2 * limits.ringBatchMax + 200;
jest.setTimeout(2_400 * publishedPerSecond);
const inputs = { chance: 0, retryDelayMs: undefined };

/** Returns a bus that hands events on at once, and counts how often facts were published, and how many at once. */
function virtualBus(clock: VirtualClock) {
  let isUp = false;
  let telling = 0;
  const handlers = new Map<string, ((events: readonly unknown[]) => Promise<void>)[]>();
  const told = new Map<string, number>();
  const counts = { tellingMost: 0 };
  const tell = async (facts: readonly SettledEvent[]): Promise<void> => {
    if (!isUp) throw new Error("the bus is away");
    telling += facts.length;
    counts.tellingMost = Math.max(counts.tellingMost, telling);
    await pause(clock, factsMs);
    telling -= facts.length;
    for (const { id } of facts) told.set(id, (told.get(id) ?? 0) + 1);
  };
  const bus: EventBus = {
    publish: async (topic, events) => {
      if (topic === "message.settled") await tell(events as readonly SettledEvent[]);
      // Heard when the publisher knows already that the event was taken.
      if (isUp)
        clock.after(hopMs, () => {
          for (const hear of handlers.get(topic) ?? []) void hear(events);
        });
    },
    subscribe: async (topic, _group, handle, { owns } = {}) => {
      owns?.(allShards);
      const hear = handle as (events: readonly unknown[]) => Promise<void>;
      handlers.set(topic, [...(handlers.get(topic) ?? []), hear]);
      return async () => undefined;
    },
    isUp: () => isUp,
    freeRecordBytes: () => 0,
    hears: () => isUp,
  };
  return {
    bus,
    told,
    counts,
    comeBack: () => {
      isUp = true;
    },
  };
}

/**
 * Returns a deliverer that claims hinted messages, settles them in the same moment and reports them. Counts them, and
 * how late they were.
 */
function instantDeliverer(ports: FollowUpPorts, clock: VirtualClock) {
  let delivered = 0;
  let latestMs = 0;
  const deliver = async (hints: readonly Hint[]): Promise<void> => {
    const ids = hints.map(({ id }): MessageId => id);
    const claimed = await ports.records.claim(ids, owner("deliverer"));
    const now = clock.now();
    delivered += claimed.length;
    for (const { message } of claimed) latestMs = Math.max(latestMs, now - message.notBefore);
    const attempt = anAttempt(anAnswer(200), { endedAt: now });
    const settlements = claimed.map((record): Settlement => settleAttempt(record, attempt, inputs));
    const settled = await ports.records.settle(settlements);
    for (const [i, { message, append }] of settlements.entries()) {
      const each = settled[i];
      const items = each?.kind === "ok" ? each.left : [];
      const fact = append.find((item) => item.kind === "fact");
      // A fact that the bus does not accept stays in the outbox, and rings.
      reportSettled(ports, { message, outbox: items, fact }).catch(() => undefined);
    }
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

function cluster() {
  const clock = virtualClock();
  const now = (): number => clock.now();
  const schedules = modelSchedules(now);
  const messageLog = modelMessageLog();
  const { ports: stored } = modelRecords(clock, schedules, messageLog);
  const { bus, ...world } = virtualBus(clock);
  const ports = {
    ...stored,
    messageLog: messageLog.port,
    tokens: modelTokenStore(now).port,
    deadLetters: modelDeadLetters(),
    groups: modelGroups(now, () => true),
    schedules: schedules.port,
    tenants: new Map(),
    ids: { next: newId, positionAt: (time: number) => time },
    bus,
    clock,
    sha256: String,
    log: recordingLog(false),
  };
  const deliverer = instantDeliverer(ports, clock);
  let made = 0;
  const services = [
    new CallbackDispatcher(ports),
    new Standby(ports, deliverer.hear),
    new Scheduler(ports),
  ];
  return {
    ...world,
    clock,
    deliverer,
    start: async () => {
      await bus.subscribe("message.due", "deliverer", async (hints) => deliverer.hear(hints));
      for (const service of services) await service.start();
    },
    stop: async () => {
      for (const service of services.toReversed()) await service.stop();
    },
    nextOfFacts: () => ports.alarms.next(allShards, ["fact", "followUp"]),
    /** Publishes `count` messages that are due now. A delivery with redactions is reported by a fact, which waits for the bus. */
    publish: async (count: number) => {
      const published = made;
      made += count;
      const records = Array.from({ length: count }, (_, i) => {
        const asked = (published + i) % callbackEvery === 0 && { callback: aCallbackPlan() };
        const policy = aPolicy({ redaction: { body: true, headers: [] }, ...asked });
        return accept(aMessage({ now: now(), policy }), now(), !bus.isUp());
      });
      await ports.records.insert(
        records.map((record) => ({ record })),
        "new",
      );
      await announce(ports, records);
    },
  };
}

describe(`ten minutes without the bus, at ${publishedPerSecond} messages a second`, () => {
  const apart = cluster();
  const { clock, deliverer, told, counts } = apart;
  const publishFor = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms && deliverer.latestMs <= latenessMsMax; at += tickMs) {
      await apart.publish((publishedPerSecond * tickMs) / 1_000);
      await clock.advance(tickMs);
    }
  };
  beforeAll(() => apart.start());
  afterAll(() => apart.stop());

  it("delays no message by more than two seconds, though each delivered record keeps an unpublished fact", async () => {
    await publishFor(outageMs);
    await clock.advance(latenessMsMax);

    const published = (publishedPerSecond * outageMs) / 1_000;
    expect(deliverer.latestMs).toBeLessThanOrEqual(latenessMsMax);
    expect(deliverer.delivered).toBe(published + published / callbackEvery);
    expect(told.size).toBe(0);
  });

  it("is over within a minute of the bus' return: each fact is published once, few at a time, and nothing is late meanwhile", async () => {
    const owed = deliverer.delivered;

    apart.comeBack();
    await publishFor(afterwardsMs);
    await clock.advance(limits.ringAheadMs);

    const published = (publishedPerSecond * afterwardsMs) / 1_000;
    const delivered = owed + published + published / callbackEvery;
    expect(deliverer.latestMs).toBeLessThanOrEqual(latenessMsMax);
    expect(deliverer.delivered).toBe(delivered);
    expect(told.size).toBe(delivered);
    expect(await apart.nextOfFacts()).toBeUndefined();
    expect([...told.values()].filter((times) => times > 1)).toEqual([]);
    expect(counts.tellingMost).toBeLessThanOrEqual(tellingMostMax);
  });
});
