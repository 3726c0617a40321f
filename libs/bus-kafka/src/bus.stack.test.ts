/** Properties of the bus that its contract leaves open and that Kafka decides, on the broker of the stack. */
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { type Hint, type SettledEvent, type Topic } from "@posthaste/ports";
import { encode } from "./codec.ts";
import { type Beside, openBeside } from "./beside.fixture.ts";
import { aHint, aSettled, eventually, refuses, publishFacts } from "./events.fixture.ts";
import { type OpenBuses, openBuses } from "./opened.fixture.ts";

jest.setTimeout(180_000);
let buses: OpenBuses;
let beside: Beside;

beforeEach(() => {
  buses = openBuses();
  beside = openBeside(buses);
});
afterEach(() => buses.close());

const facts = (count: number): readonly SettledEvent[] =>
  Array.from({ length: count }, () => aSettled());

const hearing =
  (heard: Set<string>) =>
  async (events: readonly { readonly id: string }[]): Promise<void> => {
    for (const { id } of events) heard.add(id);
  };

type Raw = { key: string | null; value: Buffer | null; headers?: Record<string, string> };

async function sayRaw(topic: string, messages: Raw[]): Promise<void> {
  const producer = beside.kafka.producer({ createPartitioner: () => () => 0 });
  await producer.connect();
  await producer.send({ topic: buses.prefix + topic, messages });
  await producer.disconnect();
}

const committed = (group: string, topic: string): Promise<number> =>
  beside.asAdmin(async (admin) => {
    const name = buses.prefix + topic;
    const groupId = `${buses.prefix}${group}.${topic}`;
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [name] });
    return (offsets?.partitions ?? [])
      .map(({ offset }) => Math.max(0, Number(offset)))
      .reduce((sum, offset) => sum + offset, 0);
  });

/** Returns the end of the partition; 0 while the partition is new and has no leader. */
const endOf = (topic: Topic, partition: number): Promise<number> =>
  beside
    .asAdmin(async (admin) => {
      const ends = await admin.fetchTopicOffsets(buses.prefix + topic);
      return Number(ends.find((each) => each.partition === partition)?.high ?? 0);
    })
    .catch(() => 0);

const removeBefore = (topic: string, offset: number): Promise<void> =>
  beside.asAdmin(async (admin) => {
    const name = buses.prefix + topic;
    // Makes the client find the topic's brokers.
    await admin.fetchTopicOffsets(name);
    const partitions = [{ partition: 0, offset: String(offset) }];
    await admin.deleteTopicRecords({ topic: name, partitions });
  });

const topicResource = 2;

const limitMessageBytes = (topic: string, bytes: number): Promise<unknown> =>
  beside.asAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: topicResource,
          name: buses.prefix + topic,
          configEntries: [{ name: "max.message.bytes", value: String(bytes) }],
        },
      ],
    }),
  );

describe("handled events", () => {
  it("is not received again by a member that joins after another has left properly", async () => {
    const bus = await buses.open();
    const [first, second] = [new Set<string>(), new Set<string>()];
    const leave = await bus.subscribe("message.settled", "group", hearing(first));
    const [early, late] = [facts(20), facts(1)];
    await publishFacts(bus, early);
    await eventually(() => first.size === early.length);
    await leave();

    await bus.subscribe("message.settled", "group", hearing(second));
    await publishFacts(bus, late);
    await eventually(() => second.size > 0);

    expect([...second]).toEqual(late.map(({ id }) => id));
  });

  it("is committed while the group continues", async () => {
    const bus = await buses.open();
    const heard = new Set<string>();
    await bus.subscribe("message.settled", "group", hearing(heard));
    const said = facts(50);
    await publishFacts(bus, said);
    await eventually(() => heard.size === said.length);

    await eventually(async () => (await committed("group", "message.settled")) >= said.length);
    // The broker has the commit before its answer arrives here.
    await eventually(() => bus.counts().commits > 0);

    expect(heard).toEqual(new Set(said.map(({ id }) => id)));
  });

  it("does not stop a group when the broker has removed it: the group receives all remaining events", async () => {
    const bus = await buses.open({ partitions: 1 });
    const [before, after] = [new Set<string>(), new Set<string>()];
    const leave = await bus.subscribe("message.settled", "group", hearing(before));
    const [early, removed, left] = [facts(5), facts(5), facts(5)];
    await publishFacts(bus, early);
    await eventually(() => before.size === early.length);
    await leave();
    await publishFacts(bus, removed);
    await publishFacts(bus, left);
    await removeBefore("message.settled", early.length + removed.length);

    await bus.subscribe("message.settled", "group", hearing(after));

    await eventually(() => after.size >= left.length);
    expect([...after].toSorted()).toEqual(left.map(({ id }) => id).toSorted());
    expect(bus.counts().placesLost).toBe(1);
    const lost = buses.log.lines.filter(({ event }) => event === "bus.facts_lost");
    expect(lost.map(({ fields }) => fields)).toEqual([
      {
        topic: `${buses.prefix}message.settled`,
        group: `${buses.prefix}group.message.settled`,
        partition: 0,
      },
    ]);
  });

  it("is no loss when hints were removed: they are kept for as long as they are of use", async () => {
    const bus = await buses.open({ partitions: 1 });
    const [before, after] = [new Set<string>(), new Set<string>()];
    const say = async (hint: Hint): Promise<void> => bus.publish("message.due", [hint]);
    const [early, removed, left] = [aHint(), aHint(), aHint()];
    await eventually(() => bus.isUp());
    const leave = await bus.subscribe("message.due", "group", hearing(before));
    await say(early);
    await eventually(() => before.size === 1);
    await leave();
    await say(removed);
    await eventually(async () => (await endOf("message.due", 0)) === 2);
    await removeBefore("message.due", 2);

    await bus.subscribe("message.due", "group", hearing(after));
    await say(left);

    await eventually(() => after.has(left.id));
    expect(bus.counts().placesLost).toBe(0);
  });

  it("is nothing while the handler does not take it: another member gets it", async () => {
    const bus = await buses.open();
    const heard = new Set<string>();
    let offers = 0;
    const leave = await bus.subscribe("message.settled", "group", async () => {
      offers++;
      throw new Error("the store is away");
    });
    const said = facts(10);
    await publishFacts(bus, said);
    await eventually(() => offers > 0);
    await leave();

    await bus.subscribe("message.settled", "group", hearing(heard));

    await eventually(() => heard.size === said.length);
    expect([...heard].toSorted()).toEqual(said.map(({ id }) => id).toSorted());
  });
});

it("events published one after the other arrive together at a member that has time for them", async () => {
  const bus = await buses.open({ partitions: 1 });
  const [heard, offers] = [new Map<string, number>(), new Map<string, number>()];
  const counting = (group: string) => (events: readonly SettledEvent[]) => {
    heard.set(group, (heard.get(group) ?? 0) + events.length);
    offers.set(group, (offers.get(group) ?? 0) + 1);
    return Promise.resolve();
  };
  await bus.subscribe("message.settled", "hurried", counting("hurried"));
  await bus.subscribe("message.settled", "gathering", counting("gathering"), { gatherMs: 2_000 });

  for (const fact of facts(50)) await publishFacts(bus, [fact]);

  await eventually(() => heard.get("hurried") === 50 && heard.get("gathering") === 50);
  expect(offers.get("gathering")).toBeLessThan((offers.get("hurried") ?? 0) / 2);
});

it("the first member of a group receives the events published before it joined", async () => {
  const bus = await buses.open();
  const said = facts(10);
  await publishFacts(bus, said);
  const heard = new Set<string>();

  await bus.subscribe("message.settled", "group", hearing(heard));

  await eventually(() => heard.size === said.length);
  expect(heard.size).toBe(said.length);
});

it("more facts than may be in hand wait at the broker until the handler continues, and none is lost", async () => {
  const bus = await buses.open({ partitions: 1 });
  const heard = new Set<string>();
  const gate = Promise.withResolvers<void>();
  let mostInHand = 0;
  await bus.subscribe("message.settled", "group", async (events) => {
    mostInHand = Math.max(mostInHand, events.length);
    await gate.promise;
    for (const { id } of events) heard.add(id);
  });
  const said = facts(6_000);

  for (let i = 0; i < said.length; i += 500) await publishFacts(bus, said.slice(i, i + 500));
  await eventually(() => bus.counts().pauses > 0);
  gate.resolve();

  await eventually(() => heard.size === said.length);
  expect(mostInHand).toBeLessThan(2_500);
});

describe("an unreadable event", () => {
  it("is parked with its bytes and the reason, once for a group, and later events are received", async () => {
    const bus = await buses.open({ partitions: 1 });
    await eventually(() => bus.isUp());
    const raw = Buffer.from([0xff, 0x00, 0x7b]);
    const hint = aHint();
    await sayRaw("message.due", [
      { key: "k", value: raw, headers: { theirs: "kept" } },
      { key: null, value: null },
      { key: "id", value: encode("message.due", hint) },
    ]);
    const heard = new Set<string>();

    const leave = await bus.subscribe("message.due", "group", hearing(heard));
    await eventually(() => heard.has(hint.id) && bus.counts().parked === 2);
    await leave();
    const later = aHint();
    await bus.subscribe("message.due", "group", hearing(heard));
    await eventually(async () => {
      await bus.publish("message.due", [later]);
      return heard.has(later.id);
    });

    const parked = await beside.messagesOf("parked", 2);
    expect(parked[0]).toEqual({
      key: "k",
      value: raw,
      headers: {
        theirs: "kept",
        "parked-reason": "the value is not a JSON object",
        "parked-topic": `${buses.prefix}message.due`,
        "parked-partition": "0",
        "parked-offset": "0",
        "parked-group": `${buses.prefix}group.message.due`,
      },
    });
    expect(parked[1]).toMatchObject({ key: undefined, value: null });
    expect(bus.counts().parked).toBe(2);
  });
});

it("a fact that the broker refuses fails with the reason, and facts published with it are received", async () => {
  const bus = await buses.open({ partitions: 1 });
  const heard = new Set<string>();
  await bus.subscribe("message.settled", "group", hearing(heard));
  await limitMessageBytes("message.settled", 30_000);
  const large = aSettled({ error: "x".repeat(50_000) });
  const small = facts(20);

  await Promise.all([
    refuses(bus, [large], /the broker refuses an event of \d+ bytes/),
    ...small.map((fact) => publishFacts(bus, [fact])),
  ]);

  await eventually(() => small.every(({ id }) => heard.has(id)));
  expect(heard.has(large.id)).toBe(false);
});

it("a fact larger than any broker takes fails at once, and facts published with it are received", async () => {
  const bus = await buses.open();
  const heard = new Set<string>();
  await bus.subscribe("message.settled", "group", hearing(heard));
  const [large, small] = [aSettled({ error: "x".repeat(1_000_000) }), aSettled()];

  await refuses(bus, [large, small], /more than/);

  await eventually(() => heard.has(small.id));
  expect([...heard]).toEqual([small.id]);
});

it("events to one process of the roster go many in a Kafka message, all others one by one", async () => {
  const bus = await buses.open({ partitions: 1 });
  const heard = new Set<string>();
  await bus.subscribe("message.due", "group", async (hints) => {
    for (const { id } of hints) heard.add(id);
  });
  const [addressed, plain] = [20, 20].map((count) => Array.from({ length: count }, aHint));
  await bus.publish("message.due", addressed?.map((hint) => ({ ...hint, to: 0 })) ?? []);
  await eventually(() => bus.counts().events === 20);
  const joined = bus.counts().messages;
  await bus.publish("message.due", plain ?? []);
  await eventually(() => heard.size === 40);

  expect(joined).toBeLessThan(10);
  await eventually(() => bus.counts().messages === joined + 20);
});

it("a member has no partitions while its group assigns them anew, and then learns its own", async () => {
  const [first, second] = [await buses.open(), await buses.open()];
  const told: (readonly number[])[] = [];
  const listen = async (): Promise<void> => undefined;
  await first.subscribe("message.due", "group", listen, {
    assigned: (partitions) => told.push(partitions),
  });
  await eventually(() => told.at(-1)?.length === 4);

  await second.subscribe("message.due", "group", listen);
  await eventually(() => told.at(-1)?.length === 2);

  const moved = told.slice(told.findLastIndex(({ length }) => length === 4) + 1);
  expect(moved.map(({ length }) => length)).toEqual([0, 2]);
});
