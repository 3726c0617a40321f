/** Tests the topics of the bus: their settings, and what happens when one grows. */
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { allShards, shardCount } from "@posthaste/domain";
import { type Topic } from "@posthaste/ports";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Beside, openBeside } from "./beside.fixture.ts";
import { aHint, aSettled, eventually, publishFacts } from "./events.fixture.ts";
import { type KafkaBus, type KafkaBusOptions } from "./index.ts";
import { type OpenBuses, openBuses } from "./opened.fixture.ts";

jest.setTimeout(180_000);
let buses: OpenBuses;
let beside: Beside;

beforeEach(() => {
  buses = openBuses();
  beside = openBeside(buses);
});
afterEach(() => buses.close());

const partitionsOf = (topic: string): Promise<number | undefined> =>
  beside.asAdmin(async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [buses.prefix + topic] });
    return topics[0]?.partitions.length;
  });

const grow = (topic: Topic, count: number): Promise<unknown> =>
  beside.asAdmin((admin) =>
    admin.createPartitions({ topicPartitions: [{ topic: buses.prefix + topic, count }] }),
  );

/** Returns the end of the partition; 0 while the partition is new and has no leader. */
const endOf = (topic: Topic, partition: number): Promise<number> =>
  beside
    .asAdmin(async (admin) => {
      const ends = await admin.fetchTopicOffsets(buses.prefix + topic);
      return Number(ends.find((each) => each.partition === partition)?.high ?? 0);
    })
    .catch(() => 0);

const topicResource = 2;

const settingOf = (topic: string, name: string): Promise<string | undefined> =>
  beside.asAdmin(async (admin) => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: topicResource, name: buses.prefix + topic, configNames: [name] }],
    });
    return resources[0]?.configEntries.find(({ configName }) => configName === name)?.configValue;
  });

describe("topics", () => {
  it("are made with the configured partitions and retention", async () => {
    const bus = await buses.open({ partitions: 3, retentionMs: 7_200_000 });
    await eventually(() => bus.isUp());

    expect(await partitionsOf("message.settled")).toBe(3);
    expect(await partitionsOf("parked")).toBe(1);
    expect(await settingOf("message.settled", "retention.ms")).toBe("7200000");
    expect(await settingOf("scheduler.wake", "retention.ms")).toBe("3600000");
    expect(await settingOf("message.due", "retention.ms")).toBe("300000");
    expect(await settingOf("message.due", "retention.bytes")).toBe(String(256 * 1024 * 1024));
    expect(await settingOf("message.due", "segment.bytes")).toBe(String(64 * 1024 * 1024));
  });

  it("get more partitions when more are configured, and keep them when fewer are", async () => {
    for (const [partitions, expected] of [
      [2, 2],
      [5, 5],
      [1, 5],
    ] as const) {
      const bus = await buses.open({ partitions });
      await eventually(() => bus.isUp());
      await eventually(async () => (await partitionsOf("scheduler.wake")) === expected);
      await bus.close();
    }
  });
});

it("the context of a trace travels with an event, and no other data of the tracer", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const contexts: unknown[] = [];
  const bus = await buses.open({
    partitions: 1,
    trace: {
      inject: () => ({ traceparent, baggage: "secret" }),
      run: (headers, task) => {
        contexts.push(headers);
        return task();
      },
    },
  });
  await bus.subscribe("message.settled", "group", async () => undefined);

  await publishFacts(bus, [aSettled()]);

  await eventually(() => contexts.length > 0);
  expect(contexts[0]).toEqual({ traceparent });
  expect((await beside.messagesOf("message.settled", 1))[0]?.headers).toEqual({ traceparent });
});

it("the shards of a killed member go to the living ones", async () => {
  const bus = await buses.open({ sessionMs: 2_000 });
  await eventually(() => bus.isUp());
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL("listening.fixture.ts", import.meta.url)),
      String(buses.brokers[0]),
      buses.prefix,
      "schedulers",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    let owned = 0;
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await bus.subscribe("scheduler.wake", "schedulers", async () => undefined, {
      owns: (shards) => (owned = shards.length),
    });
    await eventually(() => owned === shardCount / 2);

    child.kill("SIGKILL");

    await eventually(() => owned === shardCount);
    expect(owned).toBe(shardCount);
  } finally {
    child.kill("SIGKILL");
  }
});

describe("when the topic of wakes has grown", () => {
  /** The shards that `owns` reported last. */
  type Owner = { shards: readonly number[] };

  async function join(given: Partial<KafkaBusOptions> = {}): Promise<Owner & { bus: KafkaBus }> {
    const bus = await buses.open(given);
    const owner = { bus, shards: [] as readonly number[] };
    await bus.subscribe("scheduler.wake", "schedulers", async () => undefined, {
      owns: (shards) => (owner.shards = shards),
    });
    return owner;
  }
  const ownEachOnce = (owners: readonly Owner[]): boolean =>
    String(owners.flatMap(({ shards }) => shards).toSorted((a, b) => a - b)) === String(allShards);

  it("each shard has one owner once a member was replaced", async () => {
    const [replaced, ...others] = await Promise.all([join(), join(), join()]);
    await eventually(() => ownEachOnce([replaced, ...others]));
    await grow("scheduler.wake", 8);

    await replaced.bus.close();
    const next = await join();

    await eventually(() => next.shards.length > 0 && ownEachOnce([next, ...others]));
  });

  it("the members share the shards anew by themselves", async () => {
    const owners = await Promise.all([1, 2, 3].map(() => join({ metadataMs: 500 })));
    await eventually(() => ownEachOnce(owners));

    await grow("scheduler.wake", 8);

    const counts = (): string => String(owners.map(({ shards }) => shards.length).toSorted());
    await eventually(() => ownEachOnce(owners) && counts() === "16,24,24");
  });
});

describe("when a topic has grown", () => {
  const growing: readonly (readonly [
    string,
    Partial<KafkaBusOptions>,
    (bus: KafkaBus) => Promise<void>,
    Topic,
    number,
  ])[] = [
    [
      "a wake goes to the partition that its shard has now",
      { metadataMs: 500 },
      (bus) => bus.publish("scheduler.wake", [{ shard: 5, at: 0, source: "record" }]),
      "scheduler.wake",
      5,
    ],
    [
      "a hint goes to the partition of its deliverer, which has shown that there are more",
      {},
      (bus) => bus.publish("message.due", [{ ...aHint(), to: 6 }]),
      "message.due",
      6,
    ],
  ];
  it.each(growing)("%s", async (_, given, say, topic, partition) => {
    const bus = await buses.open(given);
    await eventually(() => bus.isUp());
    await say(bus);
    await grow(topic, 8);

    await eventually(async () => {
      await say(bus);
      return (await endOf(topic, partition)) > 0;
    });
  });
});
