import { describe, expect, it } from "@jest/globals";
import {
  acceptClaimed,
  flowLaneId,
  limits,
  type Message,
  originHash,
  type Outcome,
  owner,
} from "@posthaste/domain";
import { type MessageStore, StoreError, type WakeEvent } from "@posthaste/ports";
import {
  aCallbackPlan,
  aMessage,
  anAnswer,
  anotherTenant,
  aPolicy,
  aTenant,
  ourFailure,
} from "@posthaste/testing";
import { type Deliverer } from "./deliverer.ts";
import {
  callOf,
  called,
  deadLettersOf,
  drainMs,
  hint,
  insert,
  insertLost,
  named,
  open,
  page,
  type Ports,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  withMessages,
} from "./opened.fixture.ts";

const ok = anAnswer(200);
const elsewhere = "https://elsewhere.example/hook";
const away = new StoreError("unavailable", "the store is away");

/** Answers the call of `name` and lets happen what comes of it. */
async function answer(ports: Ports, name: string, outcome: Outcome = ok): Promise<void> {
  callOf(ports, name).answer(outcome);
  await rest(ports);
}

async function wakesOf({ bus }: Ports): Promise<readonly WakeEvent[]> {
  const wakes: WakeEvent[] = [];
  await bus.subscribe("scheduler.wake", "test", async (events) => void wakes.push(...events));
  return wakes;
}

describe("claiming", () => {
  it("is done only for free slots: what waits, waits in the store", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 2 });

    const messages = await publish(ports, ["a", "b", "c", "d"]);
    expect(called(ports)).toEqual(["a", "b"]);
    expect(await Promise.all(messages.map((message) => stateOf(ports, message)))).toEqual([
      "claimed",
      "claimed",
      "due",
      "due",
    ]);
    await answer(ports, "b");

    expect(called(ports)).toEqual(["a", "b", "c"]);
  });

  it("leaves the slots that a slow origin may not have to the others", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 4, perOriginMax: 2 });

    await publish(ports, ["a1", "a2", "a3", "a4"]);
    await publish(ports, ["b1"], { url: elsewhere });

    expect(called(ports)).toEqual(["a1", "a2", "b1"]);
    await answer(ports, "a1");
    expect(called(ports)).toEqual(["a1", "a2", "b1", "a3"]);
  });

  it("goes on with another origin when the slot that it waited for was never its own", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1 });

    await publish(ports, ["a"]);
    await publish(ports, ["b"], { url: elsewhere });
    await answer(ports, "a");

    expect(called(ports)).toEqual(["a", "b"]);
  });

  it("goes round the tenants, so that one with many messages does not hold up another", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1 });

    await publish(ports, ["a1", "a2", "a3"]);
    await publish(ports, ["b1"], { tenant: anotherTenant });
    for (const name of ["a1", "a2", "b1"]) await answer(ports, name);

    expect(called(ports)).toEqual(["a1", "a2", "b1", "a3"]);
  });

  it("gets all that did not fit into its buffer back from the store, and calls each once", async () => {
    const ports = open(() => ok);
    await startDeliverer(ports, { shortMax: 5, perOriginMax: 3 });
    const messages: Message[] = [];
    for (let i = 0; i < 2_600; i++) messages.push(await insert(ports, named(`${i}`)));
    for (let i = 0; i < 20; i++)
      messages.push(await insert(ports, { ...named(`other ${i}`), url: elsewhere }));

    await hint(ports, messages);
    for (let turns = 0; turns < 200 && called(ports).length < messages.length; turns++)
      await rest(ports);

    expect(called(ports)).toHaveLength(messages.length);
    expect(new Set(called(ports)).size).toBe(messages.length);
    const records = await ports.messages.get(
      aTenant,
      messages.map(({ id }) => id),
    );
    expect(new Set(records.map((record) => record?.state.kind))).toEqual(new Set(["delivered"]));
  });

  it("frees the slots of what others have claimed, and of a claim that the store refused", async () => {
    const ports = open();
    let refusals = 1;
    const claim: MessageStore["claim"] = async (...args) => {
      if (refusals-- > 0) throw away;
      return ports.messages.claim(...args);
    };
    await startDeliverer(withMessages(ports, { claim }), { shortMax: 1 });

    const [refused] = await publish(ports, ["refused"]);
    const taken = await insert(ports, named("taken"));
    await ports.messages.claim([taken.id], owner("other"));
    await hint(ports, [taken]);
    await publish(ports, ["a"]);

    expect(called(ports)).toEqual(["a"]);
    expect(refused && (await stateOf(ports, refused))).toBe("due");
  });

  it("stops while more than 2,000 outcomes wait to be written, and goes on when they are", async () => {
    const ports = open(() => ok);
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: MessageStore["settle"] = async (settlements) => {
      await opened;
      return ports.messages.settle(settlements);
    };
    const deliverer = await startDeliverer(withMessages(ports, { settle }), {
      shortMax: 5_000,
      perOriginMax: 5_000,
    });
    const names = Array.from({ length: 999 }, (_, i) => `${i}`);
    for (let i = 0; i < 3; i++) await publish(ports, names);

    const before = ports.calls.length;
    expect(before).toBeGreaterThanOrEqual(2_000);
    // Two batches of claims may have been on their way.
    expect(before).toBeLessThan(2_400);
    expect(deliverer.reserve(aTenant, originHash(elsewhere))).toBe(false);
    letGo();
    for (let turns = 0; turns < 50; turns++) await rest(ports);

    expect(ports.calls).toHaveLength(3 * 999);
  });
});

describe("a slot reserved for an insert", () => {
  const origin = originHash("https://destination.example/hook");

  /** Inserted and claimed, and not yet handed over. */
  async function reserved(ports: Ports, deliverer: Deliverer, names: readonly string[]) {
    const records = names.map((name) => {
      const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named(name) });
      expect(deliverer.reserve(aTenant, origin)).toBe(true);
      return acceptClaimed(message, deliverer.owner, ports.clock.now());
    });
    await ports.messages.insert(records.map((record) => ({ record })));
    return records;
  }

  it("is one of as many as there are slots, and free again when the insert has failed", async () => {
    const deliverer = await startDeliverer(open(), { perOriginMax: 2 });

    expect(deliverer.reserve(aTenant, origin)).toBe(true);
    expect(deliverer.reserve(aTenant, origin)).toBe(true);
    expect(deliverer.reserve(aTenant, origin)).toBe(false);
    expect(deliverer.reserve(aTenant, originHash(elsewhere))).toBe(true);
    deliverer.release(aTenant, origin);

    expect(deliverer.reserve(aTenant, origin)).toBe(true);
  });

  it("holds nobody up while the insert is under way, and is refused when all slots are in use", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1 });

    expect(deliverer.reserve(aTenant, origin)).toBe(true);
    await publish(ports, ["a"]);
    expect(called(ports)).toEqual(["a"]);
    expect(deliverer.reserve(aTenant, originHash(elsewhere))).toBe(false);
  });

  it("is refused to a newcomer while somebody of his origin is in line", async () => {
    const ports = open();
    const settle: MessageStore["settle"] = () => new Promise(() => undefined);
    const deliverer = await startDeliverer(withMessages(ports, { settle }), { perOriginMax: 1 });
    await publish(ports, ["a", "b"]);
    // The slot is free again, and "b" has not been claimed for it yet.
    await answer(ports, "a");

    expect(deliverer.reserve(aTenant, origin)).toBe(false);
    expect(deliverer.reserve(aTenant, originHash(elsewhere))).toBe(true);
    expect(deliverer.reserve(anotherTenant, origin)).toBe(true);
  });

  it("is free as soon as the call has ended, though its outcome is still being written", async () => {
    const ports = open();
    const settle: MessageStore["settle"] = () => new Promise(() => undefined);
    const deliverer = await startDeliverer(withMessages(ports, { settle }), { shortMax: 1 });
    await publish(ports, ["a"]);

    expect(deliverer.reserve(aTenant, origin)).toBe(false);
    await answer(ports, "a");

    expect(deliverer.reserve(aTenant, origin)).toBe(true);
  });

  it("is refused once the deliverer stops", async () => {
    const deliverer = await startDeliverer(open());
    await deliverer.stop();

    expect(deliverer.reserve(aTenant, origin)).toBe(false);
  });

  it("goes to the first in line as soon as a call has ended, though its outcome is still being written", async () => {
    const ports = open();
    const settle: MessageStore["settle"] = () => new Promise(() => undefined);
    const deliverer = await startDeliverer(withMessages(ports, { settle }), { perOriginMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const record of records) deliverer.run(record);

    await answer(ports, "x");
    expect(called(ports)).toEqual(["x", "y", "a"]);
    expect(deliverer.reserve(aTenant, origin)).toBe(false);
    await answer(ports, "y");

    expect(called(ports)).toEqual(["x", "y", "a", "b"]);
  });

  it("goes to the first in line when one is free, never beyond the limit, before any hint", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { perOriginMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y", "z"]);
    for (const record of records) deliverer.run(record);
    expect(called(ports)).toEqual(["x", "y"]);

    for (const name of ["x", "y", "a"]) await answer(ports, name);

    expect(called(ports)).toEqual(["x", "y", "a", "b", "z"]);
  });

  it("is waited for under a lease that is renewed, and a cancelled one is not called", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 2 });
    const records = await reserved(ports, deliverer, ["a", "b"]);
    await publish(ports, ["x", "y"]);
    for (const record of records) deliverer.run(record);
    await ports.clock.advance(50_000);
    const [a, b] = records.map(({ message }) => message);
    if (a) await ports.messages.cancel(aTenant, [a.id]);
    if (a) deliverer.abort(a.id);
    await answer(ports, "x");
    await answer(ports, "b");

    expect(called(ports)).toEqual(["x", "y", "b"]);
    expect(b && (await read(ports, b))).toMatchObject({ state: { kind: "delivered" }, epoch: 1 });
  });

  it("that has not come when the time to drain is up hands the claim back", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1 });
    const [record] = await reserved(ports, deliverer, ["a"]);
    await publish(ports, ["x"]);
    if (record) deliverer.run(record);
    const stopped = deliverer.stop();
    await ports.clock.advance(drainMs);
    await stopped;

    expect(called(ports)).toEqual(["x"]);
    expect(record && (await stateOf(ports, record.message))).toBe("held");
  });

  it("has its lease counted from before the insert, however long that took", async () => {
    const opened = open();
    const ports = withMessages(opened, { renew: () => Promise.reject(away) });
    const deliverer = await startDeliverer(ports);
    const message = aMessage({ id: ports.newId(), now: ports.clock.now(), ...named("slow") });
    const record = acceptClaimed(message, deliverer.owner, ports.clock.now());
    await ports.messages.insert([{ record }]);
    await ports.clock.advance(24_000);
    deliverer.reserve(aTenant, origin);
    deliverer.run(record);
    await ports.clock.advance(1_000);

    expect(callOf(ports, "slow").aborted).toBe(true);
  });
});

describe("a lease", () => {
  it("that has run out before the call is not relied on: nobody is called, and nothing is written", async () => {
    const opened = open();
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    const claim: MessageStore["claim"] = async (...args) => {
      const claimed = await opened.messages.claim(...args);
      await promise;
      return claimed;
    };
    const ports = withMessages(opened, { claim });
    await startDeliverer(ports);
    const [message] = await publish(ports, ["late"]);

    await ports.clock.advance(26_000);
    letGo();
    await rest(ports);

    expect(called(ports)).toEqual([]);
    expect(message && (await stateOf(ports, message))).toBe("claimed");
  });

  it("is renewed for as long as the call lasts, so that nobody else claims the message", async () => {
    const ports = open();
    await startDeliverer(ports);
    const [message] = await publish(ports, ["slow"]);

    await ports.clock.advance(300_000);
    expect(message && (await ports.messages.claim([message.id], owner("other")))).toEqual([]);
    await answer(ports, "slow");

    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "delivered" },
      leaseLosses: 0,
      epoch: 1,
    });
    expect(ports.calls).toHaveLength(1);
  });

  it("that the store says is lost aborts the call, and nothing is written about it", async () => {
    const ports = open();
    let settles = 0;
    const settle: MessageStore["settle"] = (settlements) => {
      settles += 1;
      return ports.messages.settle(settlements);
    };
    const deliverer = await startDeliverer(withMessages(ports, { settle }), { shortMax: 1 });
    const [message] = await publish(ports, ["a"]);

    await ports.messages.cancel(aTenant, message ? [message.id] : []);
    await ports.clock.advance(limits.leaseRenewMs);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(settles).toBe(0);
    expect(deliverer.reserve(aTenant, 1)).toBe(true);
  });

  it("that cannot be renewed aborts the call 5 s before it ends, and nothing is written", async () => {
    const ports = open();
    let settles = 0;
    await startDeliverer(
      withMessages(ports, {
        renew: () => Promise.reject(away),
        settle: (settlements) => {
          settles += 1;
          return ports.messages.settle(settlements);
        },
      }),
    );
    await publish(ports, ["a"]);

    await ports.clock.advance(24_000);
    expect(callOf(ports, "a").aborted).toBe(false);
    await ports.clock.advance(1_000);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(settles).toBe(0);
    expect(ports.log.events()).toContain("attempt.lease-unproven");
  });

  it("is given up at once when the message is cancelled in this process", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const [message] = await publish(ports, ["a"]);
    if (!message) throw new Error("one message was published");

    await ports.messages.cancel(aTenant, [message.id]);
    deliverer.abort(message.id);
    await rest(ports);

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(await stateOf(ports, message)).toBe("canceled");
    expect(ports.clock.armed).toBe(1);
    await ports.clock.advance(2_000);
    expect(ports.clock.armed).toBe(0);
  });
});

describe("a call that has run for a minute", () => {
  it("frees its short slot, as long as the long pool has room", async () => {
    const ports = open();
    await startDeliverer(ports, { shortMax: 1, longMax: 1 });
    await publish(ports, ["a", "b", "c"]);

    await ports.clock.advance(59_000);
    expect(called(ports)).toEqual(["a"]);
    await ports.clock.advance(2_000);
    expect(called(ports)).toEqual(["a", "b"]);
    await ports.clock.advance(120_000);

    expect(called(ports)).toEqual(["a", "b"]);
    await answer(ports, "a");
    await ports.clock.advance(1_000);
    await answer(ports, "b");
    expect(called(ports)).toEqual(["a", "b", "c"]);
  });
});

describe("an outcome", () => {
  it("is written until the store has taken it, and the destination is called once", async () => {
    const ports = open();
    let refusals = 3;
    const settle: MessageStore["settle"] = async (settlements) => {
      if (refusals-- > 0) throw away;
      return ports.messages.settle(settlements);
    };
    await startDeliverer(withMessages(ports, { settle }));
    const [message] = await publish(ports, ["a"]);

    await answer(ports, "a");
    expect(message && (await stateOf(ports, message))).toBe("claimed");
    await ports.clock.advance(1_000);

    expect(message && (await stateOf(ports, message))).toBe("delivered");
    expect(ports.calls).toHaveLength(1);
  });

  it("is kept through an outage that is longer than its lease, so that nobody is called again", async () => {
    const ports = open();
    let isAway = true;
    const settle: MessageStore["settle"] = async (settlements) => {
      if (isAway) throw away;
      return ports.messages.settle(settlements);
    };
    const renew: MessageStore["renew"] = async (claims) => {
      if (isAway) throw away;
      return ports.messages.renew(claims);
    };
    await startDeliverer(withMessages(ports, { settle, renew }));
    const [message] = await publish(ports, ["a"]);

    await answer(ports, "a");
    await ports.clock.advance(limits.leaseMs + 10_000);
    isAway = false;
    await ports.clock.advance(2_000);

    expect(message && (await stateOf(ports, message))).toBe("delivered");
    expect(ports.calls).toHaveLength(1);
  });

  it("is written until the store has fenced it, and then nothing is told", async () => {
    const ports = open();
    let isAway = true;
    const settle: MessageStore["settle"] = async (settlements) => {
      if (isAway) throw away;
      return ports.messages.settle(settlements);
    };
    await startDeliverer(withMessages(ports, { settle }));
    const policy = aPolicy({ callback: aCallbackPlan() });
    const [message] = await publish(ports, ["a"], { policy });
    let told = 0;
    await ports.bus.subscribe("message.settled", "test", async () => void told++);

    await answer(ports, "a");
    await ports.messages.cancel(aTenant, message ? [message.id] : []);
    isAway = false;
    await ports.clock.advance(5_000);

    expect(message && (await stateOf(ports, message))).toBe("canceled");
    expect(told).toBe(0);
    expect(ports.clock.armed).toBe(0);
  });

  it("that was a failure holds the message for its retry, and wakes the scheduler for that time", async () => {
    const ports = open();
    await startDeliverer(ports);
    const wakes = await wakesOf(ports);
    const policy = aPolicy({ retryDelay: "5000" });
    const [message] = await publish(ports, ["a"], { policy });

    await answer(ports, "a", anAnswer(500));

    const dueAt = ports.clock.now() + 5_000;
    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held", dueAt },
      retried: 1,
    });
    expect(wakes).toEqual([{ shard: message?.shard, at: dueAt }]);
  });

  it("that was our own failure costs no retry: it is tried again soon, and nobody is told", async () => {
    const ports = open();
    await startDeliverer(ports);
    const [message] = await publish(ports, ["a"], { policy: aPolicy({ retriesMax: 0 }) });

    await answer(ports, "a", ourFailure);

    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held", dueAt: ports.clock.now() + limits.deferralMsMin },
      retried: 0,
      deferrals: 1,
      outbox: [],
    });
    expect(await deadLettersOf(ports)).toEqual([]);
    const { items } = await ports.messageLog.list(aTenant, {}, page);
    expect(items.map(({ event }) => event.state)).toEqual(["CREATED"]);
  });

  it("cannot be had for a tenant that is not known here: that is our own failure, too", async () => {
    const ports = open();
    await startDeliverer(ports, {}, { compose: () => undefined });
    const [message] = await publish(ports, ["a"]);

    expect(ports.calls).toEqual([]);
    expect(message && (await read(ports, message))).toMatchObject({
      state: { kind: "held" },
      retried: 0,
    });
    expect(ports.log.events()).toContain("attempt.deferred");
  });

  it("with a callback is told, so that its dispatcher need not wait for an alarm", async () => {
    const ports = open();
    await startDeliverer(ports);
    const told: string[] = [];
    await ports.bus.subscribe("message.settled", "test", async (events) => {
      told.push(...events.map(({ id }) => id));
    });
    const policy = aPolicy({ callback: aCallbackPlan() });
    const [message] = await publish(ports, ["a"], { policy });

    await answer(ports, "a");

    expect(told).toEqual([message?.id]);
  });
});

describe("a message with flow control", () => {
  const flow = { key: "tight", limits: { parallelism: 1, periodMs: 1_000 } };
  const lane = flowLaneId(aTenant, flow.key);

  async function insertGranted(ports: Ports): Promise<Message> {
    const message = await insert(ports, { ...named("a"), flow });
    const until = ports.clock.now() + limits.grantMs;
    await ports.tokens.restore(lane, [], undefined);
    await ports.tokens.acquire(lane, [message.id], flow.limits);
    await ports.messages.promote(lane, [message.id], until);
    return message;
  }

  it("is called while its slot is its own, keeps it for as long as the call lasts, and gives it back", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    const wakes = await wakesOf(ports);

    await hint(ports, [message]);
    await ports.clock.advance(300_000);
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 1 });
    await answer(ports, "a");

    expect(await stateOf(ports, message)).toBe("delivered");
    expect(await ports.tokens.peek(lane)).toMatchObject({ slots: 0 });
    expect(wakes).toEqual([{ shard: message.shard, at: ports.clock.now(), lane }]);
  });

  it("goes back into its line without a call, and without being counted, when its slot was gone", async () => {
    const ports = open();
    await startDeliverer(ports);
    const message = await insertGranted(ports);
    await ports.tokens.release(lane, [message.id]);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await read(ports, message)).toMatchObject({ state: { kind: "waiting" }, retried: 0 });
  });

  it("goes back into its line without a call when its slot cannot be proven", async () => {
    const ports = open();
    const renew = (): Promise<never> => Promise.reject(away);
    await startDeliverer({ ...ports, tokens: { ...ports.tokens, renew } });
    const message = await insertGranted(ports);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await stateOf(ports, message)).toBe("waiting");
    expect(ports.log.events()).toContain("slot.unproven");
  });
});

describe("a message that takes its deliverers down", () => {
  it("runs alone after five lost leases, one after another, beside the others", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y", "z"]) lost.push((await insertLost(ports, name, 5)).message);

    await hint(ports, lost);
    await publish(ports, ["a", "b"]);
    expect(called(ports)).toEqual(["x", "a", "b"]);
    await answer(ports, "x");
    expect(called(ports)).toEqual(["x", "a", "b", "y"]);
    await answer(ports, "y", anAnswer(500));

    expect(called(ports)).toEqual(["x", "a", "b", "y", "z"]);
  });

  it("runs like any other after four", async () => {
    const ports = open();
    await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y"]) lost.push((await insertLost(ports, name, 4)).message);

    await hint(ports, lost);

    expect(called(ports)).toEqual(["x", "y"]);
  });

  it("is a dead letter after eight, without another call", async () => {
    const ports = open();
    await startDeliverer(ports);
    const { message } = await insertLost(ports, "x", 8);

    await hint(ports, [message]);

    expect(ports.calls).toEqual([]);
    expect(await stateOf(ports, message)).toBe("failed");
    expect(await deadLettersOf(ports)).toMatchObject([
      { reason: "quarantined", message: { id: message.id } },
    ]);
  });
});

describe("stopping", () => {
  it("claims nothing more, and waits for the calls that run", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1 });
    const [first, second] = await publish(ports, ["a", "b"]);
    let stopped = false;

    const stopping = deliverer.stop().then(() => (stopped = true));
    await ports.clock.advance(drainMs - 1);
    expect(stopped).toBe(false);
    await answer(ports, "a");
    await stopping;

    expect(first && (await stateOf(ports, first))).toBe("delivered");
    expect(second && (await stateOf(ports, second))).toBe("due");
    expect(called(ports)).toEqual(["a"]);
    expect(ports.clock.armed).toBe(0);
  });

  it("hands back what still runs when its time is up: nothing is counted, and it may be claimed at once", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const wakes = await wakesOf(ports);
    const [message] = await publish(ports, ["a"]);
    if (!message) throw new Error("one message was published");

    const stopping = deliverer.stop();
    await ports.clock.advance(drainMs);
    await stopping;

    expect(callOf(ports, "a").aborted).toBe(true);
    expect(await read(ports, message)).toMatchObject({ retried: 0, leaseLosses: 0, deferrals: 0 });
    expect(await ports.messages.nextAlarm([message.shard])).toBe(ports.clock.now());
    expect(wakes).toEqual([{ shard: message.shard, at: ports.clock.now() }]);
    const [again] = await ports.messages.claim([message.id], owner("other"));
    expect(again).toMatchObject({ retried: 0, leaseLosses: 0 });
    expect(ports.clock.armed).toBe(0);
  });

  it("waits for a claim that is on its way, so that no call begins after it has stopped", async () => {
    const ports = open();
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const claim: MessageStore["claim"] = async (...args) => {
      const claimed = await ports.messages.claim(...args);
      await opened;
      return claimed;
    };
    const deliverer = await startDeliverer(withMessages(ports, { claim }));
    const [message] = await publish(ports, ["a"]);
    let stopped = false;

    const stopping = deliverer.stop().then(() => (stopped = true));
    await rest(ports);
    expect(stopped).toBe(false);
    letGo();
    await rest(ports);
    await answer(ports, "a");
    await stopping;

    expect(message && (await stateOf(ports, message))).toBe("delivered");
  });

  it("waits until all that a settle has caused is told", async () => {
    const ports = open();
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    let told = 0;
    await ports.bus.subscribe("message.settled", "test", async () => {
      await opened;
      told += 1;
    });
    const deliverer = await startDeliverer(ports);
    await publish(ports, ["a"], { policy: aPolicy({ callback: aCallbackPlan() }) });
    await answer(ports, "a");
    let stopped = false;

    const stopping = deliverer.stop().then(() => (stopped = true));
    await rest(ports);
    expect(stopped).toBe(false);
    letGo();
    await stopping;

    expect(told).toBe(1);
  });

  it("calls nobody any more when its time is up, also of those that wait to run alone", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);
    const lost = [];
    for (const name of ["x", "y", "z"]) lost.push((await insertLost(ports, name, 5)).message);
    await hint(ports, lost);

    const stopping = deliverer.stop();
    await ports.clock.advance(drainMs);
    await stopping;

    expect(called(ports)).toEqual(["x"]);
    for (const message of lost)
      expect(await read(ports, message)).toMatchObject({ retried: 0, leaseLosses: 5 });
  });

  it("ends at once when nothing runs, and leaves no timer", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);

    await deliverer.stop();

    expect(ports.clock.armed).toBe(0);
  });
});
