/** Topics that an operator makes as docs/kafka.md says, on the broker of the stack. */
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { blocksOf } from "@posthaste/testing/pages";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { aSettled, eventually, publishFacts } from "./events.fixture.ts";
import { type OpenBuses, openBuses } from "./opened.fixture.ts";

jest.setTimeout(180_000);
const topicResource = 2;
/** The protocol's number for a setting of the topic itself. */
const ofTopic = 1;
let buses: OpenBuses;
let admin: Admin;

beforeEach(async () => {
  buses = openBuses();
  const { brokers } = buses;
  const kafka = new Kafka({ brokers: [...brokers], clientId: "hand", logLevel: logLevel.NOTHING });
  admin = kafka.admin();
  await admin.connect();
});
afterEach(async () => {
  await buses.close();
  await admin.disconnect();
});

const downs = () =>
  buses.log.lines
    .filter(({ event }) => event === "bus.down")
    .map(({ fields }) => String(fields["reason"]));

describe("without provisioning", () => {
  it("a process makes no topic, names the missing ones, and finds those made as the page describes", async () => {
    const bus = await buses.open({ makesTopics: false, partitions: 16 });
    await eventually(() => bus.problem()?.includes("is missing") === true);

    expect(await admin.listTopics()).not.toContain(`${buses.prefix}message.due`);
    expect(bus.isUp()).toBe(false);
    for (const topic of ["message.accepted", "message.due", "message.settled", "parked"])
      expect(bus.problem()).toContain(`the topic ${buses.prefix}${topic} is missing`);
    expect(downs()).toEqual([bus.problem()]);

    await admin.createTopics({ topics: commandsOfPage().map(topicOf) });
    await eventually(() => bus.isUp());
    const heard: string[] = [];
    await bus.subscribe("message.settled", "group", async (events) => {
      heard.push(...events.map(({ id }) => id));
    });
    const fact = aSettled();
    await publishFacts(bus, [fact]);

    await eventually(() => heard.includes(fact.id));
    expect(bus.problem()).toBeUndefined();
  });

  it("a process names a wrong topic and its fault, again when the fault changes, and waits for it", async () => {
    const name = `${buses.prefix}message.settled`;
    const topics = commandsOfPage().map(topicOf);
    await admin.createTopics({
      topics: topics.map((topic) =>
        topic.topic === name ? { ...topic, numPartitions: 2 } : topic,
      ),
    });
    await set(name, { "cleanup.policy": "compact" });
    await eventually(async () => (await settingOf(name, "cleanup.policy")) === "compact");

    const bus = await buses.open({ makesTopics: false, partitions: 4 });
    await eventually(() => bus.problem()?.includes("has 2 partitions and needs 4") === true);
    expect(bus.problem()).toContain(`the topic ${name} has cleanup.policy compact`);
    await admin.createPartitions({ topicPartitions: [{ topic: name, count: 4 }] });
    await eventually(() => bus.problem()?.includes("partitions") === false);
    await set(name, { "cleanup.policy": "delete" });
    await eventually(() => bus.isUp());

    // Each change of the problem has one line, however often the topic was checked.
    expect(downs()).toEqual([
      expect.stringContaining("has 2 partitions"),
      expect.stringMatching(/^(?!.*partitions).*cleanup\.policy/),
    ]);
  });
});

describe("topics that a process makes", () => {
  it("have the brokers' own replication and min.insync.replicas, unless the settings name others", async () => {
    const [bus, own] = [await buses.open(), openBuses()];
    const asked = await own.open({ replication: 1 });
    await eventually(() => bus.isUp() && asked.isUp());

    const ofBrokers = await overridden(`${buses.prefix}message.due`);
    const ofOurs = await overridden(`${own.prefix}message.due`);
    await own.close();

    expect(ofBrokers).not.toContain("min.insync.replicas");
    expect(ofOurs).toContain("min.insync.replicas");
  });
});

async function settingsOf(name: string) {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: topicResource, name }],
  });
  return resources.flatMap(({ configEntries }) => configEntries);
}

const settingOf = async (name: string, setting: string): Promise<string | undefined> =>
  (await settingsOf(name)).find(({ configName }) => configName === setting)?.configValue;

/** Returns the settings of a topic that are not the broker's defaults. */
async function overridden(name: string): Promise<readonly string[]> {
  const entries = await settingsOf(name);
  return entries
    .filter(({ configSource }) => Number(configSource) === ofTopic)
    .map(({ configName }) => configName);
}

const set = (name: string, settings: Readonly<Record<string, string>>): Promise<unknown> =>
  admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: topicResource,
        name,
        configEntries: Object.entries({ "retention.ms": "604800000", ...settings }).map(
          ([key, value]) => ({ name: key, value }),
        ),
      },
    ],
  });

function commandsOfPage(): readonly (readonly string[])[] {
  const commands = blocksOf("sh kafka").flatMap(({ code }) =>
    code.replaceAll("\\\n", " ").split("\n"),
  );
  const made = commands.filter((command) => command.startsWith("kafka-topics.sh "));
  expect(made).toHaveLength(5);
  return made.map((command) => command.split(/\s+/));
}

function topicOf(words: readonly string[]) {
  const after = (option: string): readonly string[] =>
    words.flatMap((word, at) => (word === option ? (words[at + 1] ?? []) : []));
  const [name = ""] = after("--topic");
  return {
    topic: name.replace(/^posthaste\./, buses.prefix),
    numPartitions: Number(after("--partitions")[0]),
    replicationFactor: -1,
    configEntries: after("--config").map((config) => {
      const [key = "", value = ""] = config.split("=");
      return { name: key, value };
    }),
  };
}
