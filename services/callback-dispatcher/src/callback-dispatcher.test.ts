import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import {
  accept,
  callbackId,
  limits,
  type Message,
  owner,
  redactedConfiguration,
  settleAttempt,
  type Sha256Hex,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { followUp } from "@posthaste/engine";
import { type MessageStore, type SettledEvent, StoreError } from "@posthaste/ports";
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
  recordingLog,
  seededRandom,
  type VirtualClock,
  virtualClock,
} from "@posthaste/testing";
import { CallbackDispatcher, type CallbackDispatcherPorts } from "./callback-dispatcher.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Ports = CallbackDispatcherPorts & {
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly newId: () => Message["id"];
};

const sha256: Sha256Hex = (value) => createHash("sha256").update(value).digest("hex");

function open(): Ports {
  const clock = virtualClock();
  const log = recordingLog();
  const embedded = openEmbedded({
    dataDir: ":memory:",
    clock,
    random: seededRandom(1),
    log,
    schedule: queueMicrotask,
  });
  closers.push(embedded.close);
  const { bus, deadLetters, ids, messages } = embedded;
  return { bus, clock, deadLetters, log, messages, newId: () => ids.next(), sha256 };
}

const withCallback = aPolicy({ callback: aCallbackPlan() });

/** Delivered, with its callback in the outbox, and what the bus says of that. */
async function settle(ports: Ports, overrides: MessageOverrides = {}): Promise<SettledEvent> {
  const { clock, messages } = ports;
  const now = clock.now();
  const message = aMessage({ id: ports.newId(), now, policy: withCallback, ...overrides });
  await messages.insert([{ record: accept(message, now) }]);
  const [record] = await messages.claim([message.id], owner("test"));
  if (!record) throw new Error(`${message.id} could not be claimed`);
  const attempt = anAttempt(anAnswer(200), { endedAt: now });
  const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
  await messages.settle([settlement]);
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

/** How many of these have their callback made, and their outbox empty. */
async function answered(ports: Ports, events: readonly SettledEvent[]): Promise<number> {
  let count = 0;
  for (const { id, message } of events) {
    const ids = [callbackId(id, 0), id];
    const [callback, record] = await ports.messages.get(message.tenant, ids);
    if (callback && record?.outbox.length === 0) count += 1;
  }
  return count;
}

/** Notes what is read, in batches. */
function watched(ports: Ports): {
  ports: Ports;
  reads: { readonly tenant: string; readonly ids: number }[];
} {
  const reads: { readonly tenant: string; readonly ids: number }[] = [];
  const get: MessageStore["get"] = (tenant, ids) => {
    reads.push({ tenant, ids: ids.length });
    return ports.messages.get(tenant, ids);
  };
  return { ports: { ...ports, messages: { ...ports.messages, get } }, reads };
}

describe("the callback-dispatcher", () => {
  it("makes the callback of what it hears, hints it, and clears the outbox", async () => {
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

  it("does not look at messages that asked for no callback", async () => {
    const opened = open();
    const { ports, reads } = watched(opened);
    const event = await settle(opened, { policy: aPolicy() });
    const dispatcher = await start(ports);

    await ports.bus.publish("message.settled", [event]);
    await dispatcher.stop();

    expect(reads).toEqual([]);
  });

  it("makes a callback once, however often it hears of it", async () => {
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

  it("leaves what it could not do to the alarm, says so, and goes on with the rest", async () => {
    const opened = open();
    const lost = await settle(opened);
    const other = await settle(opened, { tenant: anotherTenant });
    const get: MessageStore["get"] = async (tenant, ids) => {
      if (tenant === aTenant) throw new StoreError("unavailable", "the store is away");
      return opened.messages.get(tenant, ids);
    };
    const ports = { ...opened, messages: { ...opened.messages, get } };
    const dispatcher = await start(ports);

    await ports.bus.publish("message.settled", [lost, other]);
    await dispatcher.stop();

    expect(await answered(opened, [lost])).toBe(0);
    expect(await answered(opened, [other])).toBe(1);
    expect(opened.log.events()).toContain("follow-up.postponed");
    await opened.clock.advance(limits.ringAheadMs);
    const { followUps } = await opened.messages.ring([lost.message.shard], 10);
    await followUp(
      opened,
      followUps.map(({ message, outbox }) => ({ message, items: outbox })),
    );
    expect(await answered(opened, [lost])).toBe(1);
  });

  it("remembers ten thousand at the most: the alarms bring back the others", async () => {
    const opened = open();
    const { promise: opens, resolve: letGo } = Promise.withResolvers<void>();
    let looked = 0;
    const get: MessageStore["get"] = async (_tenant, ids) => {
      await opens;
      looked += ids.length;
      return ids.map(() => undefined);
    };
    const dispatcher = await start({ ...opened, messages: { ...opened.messages, get } });
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
    const get: MessageStore["get"] = async (...args) => {
      await opens;
      return opened.messages.get(...args);
    };
    const dispatcher = await start({ ...opened, messages: { ...opened.messages, get } });

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
