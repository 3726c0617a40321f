import { describe, expect, it } from "@jest/globals";
import {
  accept,
  allShards,
  limits,
  type Message,
  type MessageId,
  originHash,
  owner,
  tenantId,
} from "@posthaste/domain";
import { hintOf } from "@posthaste/engine";
import { type Records } from "@posthaste/ports";
import { aCallbackPlan, anAnswer, anotherTenant, aPolicy, aTenant } from "@posthaste/testing";
import {
  answer,
  away,
  called,
  callOf,
  drainMs,
  elsewhere,
  hint,
  insert,
  insertLost,
  named,
  ok,
  open,
  type Ports,
  publish,
  read,
  rest,
  startDeliverer,
  stateOf,
  wakesOf,
  withRecords,
} from "./opened.fixture.ts";

describe("claiming", () => {
  it("is done only for free slots: other messages wait in the store", async () => {
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

  it("leaves to other origins the slots beyond a slow origin's share", async () => {
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

  it("pulls the messages whose hints did not fit from the store, and calls each once", async () => {
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
    const records = await ports.records.get(
      aTenant,
      messages.map(({ id }) => id),
    );
    expect(new Set(records.map((record) => record?.state.kind))).toEqual(new Set(["delivered"]));
  });

  it("frees the slots of messages that others have claimed, and of a claim that the store refused, which is repeated a second later", async () => {
    const ports = open();
    let refusals = 1;
    const claim: Records["claim"] = async (...args) => {
      if (refusals-- > 0) throw away;
      return ports.records.claim(...args);
    };
    await startDeliverer(withRecords(ports, { claim }), { shortMax: 1 });

    await publish(ports, ["refused"]);
    const taken = await insert(ports, named("taken"));
    await ports.records.claim([taken.id], owner("other"));
    await hint(ports, [taken]);
    await publish(ports, ["a"]);

    expect(called(ports)).toEqual(["a"]);
    await answer(ports, "a");
    await ports.clock.advance(1_000);
    expect(called(ports)).toEqual(["a", "refused"]);
  });

  it("takes one slot for a message whose hint comes twice", async () => {
    const ports = open(() => ok);
    const deliverer = await startDeliverer(ports, { shortMax: 4 });
    const [first, twice] = [await insert(ports, named("first")), await insert(ports, named("b"))];

    // The first hint keeps the claim busy, so the hints after it make one batch.
    await hint(ports, [first, twice, twice, twice]);
    await hint(ports, [twice, twice]);
    await rest(ports);

    expect(called(ports)).toEqual(["first", "b"]);
    expect(deliverer.running(aTenant)).toBe(0);
  });

  it("stops while more than 2,000 outcomes wait to be written, and continues after the write", async () => {
    const ports = open(() => ok);
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      await opened;
      return ports.records.settle(settlements);
    };
    const deliverer = await startDeliverer(withRecords(ports, { settle }), {
      shortMax: 5_000,
      perOriginMax: 5_000,
    });
    const names = Array.from({ length: 999 }, (_, i) => `${i}`);
    for (let i = 0; i < 3; i++) await publish(ports, names);

    const before = ports.calls.length;
    expect(before).toBeGreaterThanOrEqual(2_000);
    // Two batches of claims may have been on their way.
    expect(before).toBeLessThan(2_400);
    expect(deliverer.local.reserve(aTenant, originHash(elsewhere), 0)).toBeUndefined();
    letGo();
    for (let turns = 0; turns < 50; turns++) await rest(ports);

    expect(ports.calls).toHaveLength(3 * 999);
  });
});

describe("a retry", () => {
  it("that rings before its deliverer knows that the attempt was settled is called as soon as the store has answered", async () => {
    const stored = open();
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const settle: Records["settle"] = async (settlements) => {
      const settled = await stored.records.settle(settlements);
      await opened;
      return settled;
    };
    const ports = withRecords(stored, { settle });
    await startDeliverer(ports);
    const [message] = await publish(ports, ["again"], { policy: aPolicy({ retryDelay: "20" }) });
    await answer(ports, "again", anAnswer(500));

    await ports.clock.advance(20);
    const { rung } = await ports.alarms.ring(allShards, 10, ["record"]);
    await ports.bus.publish(
      "message.due",
      rung.flatMap((each) => (each.kind === "hint" ? each.hint : [])),
    );
    await rest(ports);
    expect(called(ports)).toEqual(["again"]);
    letGo();
    await rest(ports);

    expect(called(ports)).toEqual(["again", "again"]);
    expect(message && (await stateOf(ports, message))).toBe("claimed");
  });
});

describe("a backlog", () => {
  it("that waits in the lines of a stopping deliverer is announced to the other deliverers", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports, { shortMax: 1, perOriginMax: 1 });
    const [running, ...waiting] = await publish(ports, ["a", "b", "c", "d"]);
    const heard: MessageId[] = [];
    await ports.bus.subscribe("message.due", "others", async (hints) => {
      heard.push(...hints.map(({ id }) => id));
    });

    const stopped = deliverer.stop();
    await rest(ports);
    await answer(ports, "a");
    await stopped;

    expect(heard.toSorted()).toEqual(waiting.map(({ id }) => id).toSorted());
    expect(heard).not.toContain(running?.id);
  });

  it("without a hint is found by a starting deliverer, whatever its alarms", async () => {
    const ports = open();
    await insert(ports, named("a"));
    await insert(ports, { ...named("b"), tenant: anotherTenant });

    await startDeliverer(ports, {}, { pulledAtStart: () => [aTenant, anotherTenant] });
    await rest(ports);

    expect(called(ports).toSorted()).toEqual(["a", "b"]);
  });

  it("is looked for again a second later when the store did not answer", async () => {
    const ports = open();
    await insert(ports, named("a"));
    let pulls = 0;
    const pull: Records["pull"] = (...given) =>
      ++pulls === 1 ? Promise.reject(away) : ports.records.pull(...given);
    await startDeliverer(withRecords(ports, { pull }), {}, { pulledAtStart: () => [aTenant] });
    await rest(ports);
    expect([pulls, called(ports)]).toEqual([1, []]);

    await ports.clock.advance(1_000);

    expect(called(ports)).toEqual(["a"]);
  });

  it("of thousands of tenants is looked for a few at a time, first where hints were dropped", async () => {
    const ports = open();
    const tenants = Array.from({ length: 3_000 }, (_, n) => tenantId(`tenant-${n}`));
    const asked: string[] = [];
    const gates: (() => void)[] = [];
    let asking = 0;
    let askingMax = 0;
    const pull: Records["pull"] = async (tenant, ...rest) => {
      asked.push(tenant);
      askingMax = Math.max(askingMax, ++asking);
      await new Promise<void>((resolve) => gates.push(resolve));
      asking -= 1;
      return ports.records.pull(tenant, ...rest);
    };
    const openGates = async (): Promise<void> => {
      for (const gate of gates.splice(0)) gate();
      await rest(ports);
    };
    await startDeliverer(withRecords(ports, { pull }), {}, { pulledAtStart: () => tenants });
    await openGates();
    // One origin may not have so many in line, so the tenant is pulled in its next turn.
    await publish(
      ports,
      Array.from({ length: 1_200 }, (_, n) => `${n}`),
    );
    const before = asked.length;
    while (gates.length > 0) await openGates();

    expect(askingMax).toBe(8);
    expect(new Set(asked).size).toBe(tenants.length + 1);
    expect(asked.indexOf(aTenant) - before).toBeLessThan(16);
  });

  it("that a full line had no place for does not wait until no newcomers come", async () => {
    let newcomers = 3_000;
    const ports = open(() => {
      if (newcomers-- > 0) void hintOne(ports, `newcomer ${newcomers}`);
      return ok;
    });
    await startDeliverer(ports);
    const first = Array.from({ length: 1_200 }, (_, n) => `${n}`);

    await publish(ports, first);

    const calls = called(ports);
    expect(calls).toHaveLength(first.length + 3_000);
    expect(calls.findLastIndex((name) => !name.startsWith("newcomer"))).toBeLessThan(3_000);
  });
});

async function hintOne(ports: Ports, name: string): Promise<void> {
  const message = await insert(ports, named(name));
  await ports.bus.publish("message.due", [hintOf(accept(message, ports.clock.now()))]);
}

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

  it("hands back running messages when its time is up: nothing is counted, and they may be claimed at once", async () => {
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
    expect(await ports.alarms.next([message.shard])).toBe(ports.clock.now());
    expect(wakes).toEqual([{ shard: message.shard, at: ports.clock.now(), source: "record" }]);
    const [again] = await ports.records.claim([message.id], owner("other"));
    expect(again).toMatchObject({ retried: 0, leaseLosses: 0 });
    expect(ports.clock.armed).toBe(0);
  });

  it("waits for a claim that is on its way, so that no call begins after it has stopped", async () => {
    const ports = open();
    const { promise: opened, resolve: letGo } = Promise.withResolvers<void>();
    const claim: Records["claim"] = async (...args) => {
      const claimed = await ports.records.claim(...args);
      await opened;
      return claimed;
    };
    const deliverer = await startDeliverer(withRecords(ports, { claim }));
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

  it("waits until all effects of a settle are announced", async () => {
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

  it("makes no further call when its time is up, not even for suspected messages", async () => {
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
      expect(await read(ports, message)).toMatchObject({
        retried: 0,
        leaseLosses: limits.isolateAfter,
      });
  });

  it("ends at once when nothing runs, and leaves no timer", async () => {
    const ports = open();
    const deliverer = await startDeliverer(ports);

    await deliverer.stop();

    expect(ports.clock.armed).toBe(0);
  });
});
