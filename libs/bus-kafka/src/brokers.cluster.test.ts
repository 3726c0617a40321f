/** The bus while partitions move between brokers, or have too few copies. This file starts the two brokers. */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { recordingLog } from "@posthaste/testing";
import { joinKafka, type RunningKafka, startKafka } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { aSettled, eventually, publishFacts } from "./events.fixture.ts";
import { type KafkaBus } from "./index.ts";
import { type OpenBuses, openBuses } from "./opened.fixture.ts";

const dir = temporaryFolder();
const startMsMax = 300_000;
jest.setTimeout(300_000);
const firstNode = 1;
const secondNode = 2;
/** The type of a topic among resources with settings, by Kafka's protocol. */
const topicResource = 2;
let first: RunningKafka;
let second: RunningKafka;
let admin: Admin;
let buses: OpenBuses;

beforeAll(async () => {
  first = await startKafka({ dir });
  second = await joinKafka(first, { dir });
  const { brokers } = second;
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId: "beside",
    logLevel: logLevel.NOTHING,
  });
  admin = kafka.admin();
  await admin.connect();
}, startMsMax);
afterEach(() => buses.close(), startMsMax);
afterAll(async () => {
  await admin.disconnect();
  await second.process.stop();
  await first.process.stop();
});

describe("partitions that change their leader", () => {
  it("pass over no fact while a handler fails, and the group is not joined anew", async () => {
    buses = openBuses(second.brokers);
    const log = recordingLog();
    const [bus, speaker] = [await buses.open({ log }), await buses.open()];
    const topic = `${buses.prefix}message.settled`;
    await eventually(() => bus.isUp() && speaker.isUp());
    await place(topic, [firstNode, secondNode, firstNode, secondNode]);
    const heard = new Set<string>();
    let fails = true;
    await bus.subscribe("message.settled", "group", async (events) => {
      if (fails) throw new Error("not yet");
      for (const { id } of events) heard.add(id);
    });
    const speaking = speak(speaker);

    await moveAround(topic, speaking.said);
    fails = false;
    const said = await speaking.end();

    await eventually(() => said.every((id) => heard.has(id)));
    const joins = log.lines.filter(({ fields }) => fields["message"] === joined);
    expect(said.filter((id) => !heard.has(id))).toEqual([]);
    expect(joins).toHaveLength(1);
  });

  it("have every fact that was acknowledged, also of a batch whose other part was stored before the move", async () => {
    buses = openBuses(second.brokers);
    const [bus, speaker] = [await buses.open(), await buses.open()];
    const topic = `${buses.prefix}message.settled`;
    await eventually(() => bus.isUp() && speaker.isUp());
    const heard = new Set<string>();
    const speaking = speak(speaker);

    await moveAround(topic, speaking.said);
    const said = await speaking.end();
    await bus.subscribe("message.settled", "group", async (events) => {
      for (const { id } of events) heard.add(id);
    });

    // The last facts of each partition are heard last.
    await eventually(() => said.slice(-lastOnes).every((id) => heard.has(id)));
    expect(said.filter((id) => !heard.has(id))).toEqual([]);
  });
});

describe("while one of two brokers is away", () => {
  let demanding: OpenBuses;
  let bus: KafkaBus;

  beforeAll(async () => {
    demanding = openBuses(second.brokers);
    bus = await demanding.open({ replication: 2, partitions: 1 });
    await eventually(() => bus.isUp());
    const configEntries = [{ name: "min.insync.replicas", value: "2" }];
    const name = `${demanding.prefix}message.settled`;
    const resources = [{ type: topicResource, name, configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
    const replicaAssignment = [{ partition: 0, replicas: [secondNode] }];
    const topic = `${demanding.prefix}foreign`;
    await admin.createTopics({ topics: [{ topic, replicaAssignment }] });
    await second.process.stop();
  }, startMsMax);

  it("a bus opens and takes facts, although another program's topic has no leader", async () => {
    buses = openBuses(second.brokers);

    const another = await buses.open();

    await publishFacts(another, [aSettled()]);
    expect(another.counts()).toMatchObject({ events: 1 });
  });

  it("a broker that refuses writes because copies are missing counts as away until it accepts them, and facts are sent then", async () => {
    buses = demanding;
    const fact = aSettled();

    const ups: boolean[] = [];
    for (let tries = 0; tries < 2; tries++) {
      const said = bus.publish("message.settled", [fact]);
      await expect(said).rejects.toThrow("not acknowledged");
      ups.push(bus.isUp());
    }
    await second.process.restart();
    await publishFacts(bus, [fact]);

    expect(ups).toEqual([false, false]);
    expect(bus.isUp()).toBe(true);
  });
});

const joined = "Consumer has joined the group";
const movesMax = 8;
const saidBetweenMoves = 50;
const speakersMax = 4;
const lastOnes = 20;

/** Moves the first partition to and fro while facts are published. */
async function moveAround(topic: string, said: ReadonlySet<string>): Promise<void> {
  for (let moves = 0; moves < movesMax; moves++) {
    const before = said.size;
    await eventually(() => said.size >= before + saidBetweenMoves);
    const leader = moves % 2 === 0 ? secondNode : firstNode;
    await place(topic, [leader, secondNode, firstNode, secondNode]);
  }
}

async function place(topic: string, nodes: readonly number[]): Promise<void> {
  const partitionAssignment = nodes.map((node, partition) => ({ partition, replicas: [node] }));
  await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment }] });
  await eventually(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const leaders = new Map(
      topics.flatMap(({ partitions }) =>
        partitions.map(({ partitionId, leader }) => [partitionId, leader] as const),
      ),
    );
    return nodes.every((node, partition) => leaders.get(partition) === node);
  });
}

/** Publishes several facts at a time, each as soon as the one before is acknowledged. `end` returns all acknowledged ones. */
function speak(bus: KafkaBus) {
  const said = new Set<string>();
  const over = new AbortController();
  const one = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const fact = aSettled();
      await publishFacts(bus, [fact]);
      said.add(fact.id);
    }
  };
  const all = Promise.all(Array.from({ length: speakersMax }, one));
  const end = async (): Promise<readonly string[]> => {
    over.abort();
    await all;
    return [...said];
  };
  return { said, end };
}
