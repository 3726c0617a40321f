import { describe, expect, it } from "@jest/globals";
import {
  accept,
  callbackId,
  limits,
  type Message,
  type MessageId,
  owner,
  redactedConfiguration,
  settleAttempt,
  sizeOf,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { followUp } from "@posthaste/engine";
import { type Records, type SettledEvent, StoreError, type Alarms } from "@posthaste/ports";
import {
  aCallbackPlan,
  aMessage,
  anAnswer,
  anAttempt,
  anotherTenant,
  aPolicy,
  aTenant,
  type MessageOverrides,
  type RecordingLog,
  type VirtualClock,
  byKind,
  sha256,
} from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { CallbackDispatcher, type CallbackDispatcherPorts } from "./callback-dispatcher.ts";

type Ports = CallbackDispatcherPorts & {
  readonly alarms: Alarms;
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly newId: () => Message["id"];
};

function open(): Ports {
  const { clock, log, store } = openInMemory(openEmbedded);
  const { alarms, bus, deadLetters, ids, records, runs } = store;
  const newId = () => ids.next();
  return { alarms, bus, clock, deadLetters, log, newId, records, runs, sha256 };
}

const mebibyte = 1024 * 1024;
const withCallback = aPolicy({ callback: aCallbackPlan() });

/** Settles a delivered message with its callback in the outbox. Returns the fact that the bus publishes. */
async function settle(ports: Ports, overrides: MessageOverrides = {}): Promise<SettledEvent> {
  const { clock, records } = ports;
  const now = clock.now();
  const message = aMessage({ id: ports.newId(), now, policy: withCallback, ...overrides });
  await records.insert([{ record: accept(message, now) }], "new");
  const [record] = await records.claim([message.id], owner("test"));
  if (!record) throw new Error(`${message.id} could not be claimed`);
  const attempt = anAttempt(anAnswer(200), { endedAt: now });
  const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
  await records.settle([settlement]);
  const fact = settlement.append.find((item) => item.kind === "fact");
  if (!fact) throw new Error("every settled attempt has a fact");
  return { id: message.id, message: redactedConfiguration(message, sha256), fact };
}

async function settleMany(
  ports: Ports,
  count: number,
  overrides: MessageOverrides = {},
): Promise<readonly SettledEvent[]> {
  const events: SettledEvent[] = [];
  for (let i = 0; i < count; i++) events.push(await settle(ports, overrides));
  return events;
}

async function start(ports: CallbackDispatcherPorts): Promise<CallbackDispatcher> {
  const dispatcher = new CallbackDispatcher(ports);
  await dispatcher.start();
  return dispatcher;
}

/** Counts the events whose callback is made and whose outbox is empty. */
async function answered(ports: Ports, events: readonly SettledEvent[]): Promise<number> {
  let count = 0;
  for (const { id, message } of events) {
    const ids = [callbackId(id, 0), id];
    const [callback, record] = await ports.records.get(message.tenant, ids);
    if (callback && record?.outbox.length === 0) count += 1;
  }
  return count;
}

/** Records which messages are read, by batch. */
function watched(ports: Ports): {
  ports: Ports;
  reads: { readonly tenant: string; readonly ids: number }[];
} {
  const reads: { readonly tenant: string; readonly ids: number }[] = [];
  const getSome: Records["getSome"] = (tenant, ids) => {
    reads.push({ tenant, ids: ids.length });
    return ports.records.getSome(tenant, ids);
  };
  return { ports: { ...ports, records: { ...ports.records, getSome } }, reads };
}

describe("the callback-dispatcher", () => {
  it("makes the callback of a settled message, hints it, and clears the outbox", async () => {
    const ports = open();
    const hinted: string[] = [];
    await ports.bus.subscribe("message.due", "test", async (hints) => {
      hinted.push(...hints.map(({ id }) => id));
    });
    const dispatcher = await start(ports);
    const event = await settle(ports);

    await ports.bus.publish("message.settled", [event]);
    await dispatcher.stop();

    expect(await answered(ports, [event])).toBe(1);
    expect(hinted).toEqual([callbackId(event.id, 0)]);
  });

  it("works in batches of a hundred, tenant by tenant", async () => {
    const opened = open();
    const { ports, reads } = watched(opened);
    const mine = await settleMany(opened, 150);
    const others = await settleMany(opened, 30, { tenant: anotherTenant });
    const dispatcher = await start(ports);

    const mixed = [...mine.slice(0, 75), ...others, ...mine.slice(75)];
    await ports.bus.publish("message.settled", mixed);
    await dispatcher.stop();

    expect(await answered(opened, mixed)).toBe(180);
    expect(reads).toEqual([
      { tenant: aTenant, ids: 100 },
      { tenant: anotherTenant, ids: 30 },
      { tenant: aTenant, ids: 50 },
    ]);
  });

  it("holds some of many large messages at once, and makes their callbacks a few at a time", async () => {
    const opened = open();
    const held: number[] = [];
    const made: number[] = [];
    const records: Records = {
      ...opened.records,
      getSome: async (tenant, ids) => {
        const some = await opened.records.getSome(tenant, ids);
        held.push(some.records.reduce((bytes, record) => bytes + sizeOf(record), 0));
        return some;
      },
      insert: (inserts, intake) => {
        made.push(inserts.reduce((bytes, { record }) => bytes + sizeOf(record), 0));
        return opened.records.insert(inserts, intake);
      },
    };
    const events = await settleMany(opened, 24, { body: new Uint8Array(4 * mebibyte) });
    const dispatcher = await start({ ...opened, records });

    await opened.bus.publish("message.settled", events);
    await dispatcher.stop();

    expect(await answered(opened, events)).toBe(24);
    expect(Math.max(...held)).toBeLessThanOrEqual(limits.readBytesMax + 4 * mebibyte);
    expect(Math.max(...made)).toBeLessThanOrEqual(6 * mebibyte);
  });

  it("does not look at messages without callbacks", async () => {
    const opened = open();
    const { ports, reads } = watched(opened);
    const event = await settle(opened, { policy: aPolicy() });
    const dispatcher = await start(ports);

    await ports.bus.publish("message.settled", [event]);
    await dispatcher.stop();

    expect(reads).toEqual([]);
  });

  it("makes a callback once, however often its fact arrives", async () => {
    const ports = open();
    let made = 0;
    await ports.bus.subscribe("message.due", "test", async (hints) => void (made += hints.length));
    const dispatcher = await start(ports);
    const event = await settle(ports);

    await ports.bus.publish("message.settled", [event, event]);
    await ports.clock.advance(0);
    await ports.bus.publish("message.settled", [event]);
    await dispatcher.stop();

    expect(made).toBe(1);
  });

  it("leaves failed callbacks to the alarm, logs them, and continues with the rest", async () => {
    const opened = open();
    const lost = await settle(opened);
    const other = await settle(opened, { tenant: anotherTenant });
    const getSome: Records["getSome"] = async (tenant, ids) => {
      if (tenant === aTenant) throw new StoreError("unavailable", "the store is away");
      return opened.records.getSome(tenant, ids);
    };
    const ports = { ...opened, records: { ...opened.records, getSome } };
    const dispatcher = await start(ports);

    await ports.bus.publish("message.settled", [lost, other]);
    await dispatcher.stop();

    expect(await answered(opened, [lost])).toBe(0);
    expect(await answered(opened, [other])).toBe(1);
    expect(opened.log.events()).toContain("follow-up.postponed");
    await opened.clock.advance(limits.ringAheadMs);
    const { followUps } = byKind(await opened.alarms.ring([lost.message.shard], 10));
    await followUp(opened, followUps);
    expect(await answered(opened, [lost])).toBe(1);
  });

  it("leaves work not begun shortly before its alarm to the alarm", async () => {
    const opened = open();
    const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
    const read: MessageId[] = [];
    const getSome: Records["getSome"] = async (tenant, ids) => {
      read.push(...ids);
      await opens;
      return opened.records.getSome(tenant, ids);
    };
    const begun = await settle(opened);
    const waiting = await settle(opened);
    const dispatcher = await start({ ...opened, records: { ...opened.records, getSome } });

    await opened.bus.publish("message.settled", [begun]);
    await opened.bus.publish("message.settled", [waiting]);
    await opened.clock.advance(limits.ringAheadMs - limits.followUpLeftMs);
    const fresh = await settle(opened, { tenant: anotherTenant });
    await opened.bus.publish("message.settled", [fresh]);
    letGo();
    await dispatcher.stop();

    expect(read).toEqual([begun.id, fresh.id]);
    await opened.clock.advance(limits.followUpLeftMs);
    const { alarms } = opened;
    const { followUps } = byKind(await alarms.ring([waiting.message.shard], 10, ["followUp"]));
    expect(followUps.map(({ message }) => message.id)).toEqual([waiting.id]);
  });

  it("remembers ten thousand at the most: the alarms bring back the others", async () => {
    const opened = open();
    const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
    let looked = 0;
    const getSome: Records["getSome"] = async (_tenant, ids) => {
      await opens;
      looked += ids.length;
      return { records: [], left: [] };
    };
    const dispatcher = await start({ ...opened, records: { ...opened.records, getSome } });
    const event = await settle(opened);
    const many = Array.from({ length: 10_500 }, () => ({ ...event, id: opened.newId() }));

    await opened.bus.publish("message.settled", many);
    letGo();
    await dispatcher.stop();

    expect(looked).toBe(10_000);
  });

  it("hands over at once: a slow store does not hold up the bus", async () => {
    const opened = open();
    const event = await settle(opened);
    const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
    const getSome: Records["getSome"] = async (...args) => {
      await opens;
      return opened.records.getSome(...args);
    };
    const dispatcher = await start({ ...opened, records: { ...opened.records, getSome } });

    await opened.bus.publish("message.settled", [event]);
    let stopped = false;
    const stopping = dispatcher.stop().then(() => (stopped = true));
    await opened.clock.advance(0);

    expect(stopped).toBe(false);
    letGo();
    await stopping;
    expect(await answered(opened, [event])).toBe(1);
  });
});
