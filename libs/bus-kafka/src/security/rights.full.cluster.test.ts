/** The rights that docs/kafka.md gives, and no others, at a broker that asks for them. This file starts the stores. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import {
  type Guard,
  type RunningKafka,
  type RunningServices,
  startKafka,
  startServices,
  startStores,
  type Stores,
} from "@posthaste/local";
import { type Topic } from "@posthaste/ports";
import { systemClock } from "@posthaste/process";
import {
  answer,
  type Destination,
  openDestination,
  type RecordingLog,
  recordingLog,
} from "@posthaste/testing";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import kafkajs, { type Admin, Kafka, logLevel } from "kafkajs";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { aHint, aSettled, eventually } from "../events.fixture.ts";
import { type KafkaBus, openKafkaBus } from "../index.ts";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const dir = temporaryFolder();
const startMsMax = 300_000;
jest.setTimeout(180_000);
const toldMsMax = 10_000;
const stableMs = 1_500;
const prefix = "posthaste.";
const parked = `${prefix}parked`;
const listener = "USERS";
const password = "a-password";
const token = "a-token-of-this-test";
const rights = rightsOfPage();
let kafka: RunningKafka;
let operator: Kafka;
let admin: Admin;

beforeAll(async () => {
  kafka = await startKafka({ dir }, [guard()], {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    // The broker itself, and this file where it makes topics and grants rights.
    "super.users": "User:ANONYMOUS",
  });
  const brokers = [...kafka.brokers];
  operator = new Kafka({ brokers, clientId: "operator", logLevel: logLevel.NOTHING });
  admin = operator.admin();
  await admin.connect();
  await admin.createTopics({ topics: commandsOfPage("kafka-topics.sh").map(madeTopic) });
  const given = [...rights, ...rights.flatMap(allBut)];
  await give(given);
  await areKnown(given);
}, startMsMax);
afterAll(async () => {
  await admin.disconnect();
  await kafka.process.stop();
});

describe("the services", () => {
  let stores: Stores;
  let services: RunningServices | undefined;
  let destination: Destination;
  beforeAll(async () => {
    stores = await startStores({
      dir: mkdtempSync(join(dir, "stores-")),
      kafka: false,
      mongodbUri: "",
    });
    destination = await openDestination((socket) => answer(socket, "200 OK", "heard"));
  }, startMsMax);
  afterAll(async () => {
    await services?.stop();
    await destination.close();
    await stores.stop();
  }, startMsMax);

  it("have all that they need: deliver, call back, ring alarms, and remember", async () => {
    services = await startServices({
      stores: { ...stores, kafka: { brokers: kafka.guarded.get(listener) ?? [] } },
      env: {
        POSTHASTE_LOG_LEVEL: "warn",
        POSTHASTE_TOKEN: token,
        POSTHASTE_KAFKA_PROVISION: "off",
        POSTHASTE_KAFKA_MECHANISM: "plain",
        POSTHASTE_KAFKA_PASSWORD: password,
      },
      envOf: (service) => ({ POSTHASTE_KAFKA_USER: service }),
    });
    for (const { url } of services.all)
      await eventually(
        async () => (await (await fetch(`${url}/readyz`)).text()) === '{"ready":true}',
      );

    const paths = ["/now", "/called-back", "/later"];
    await publish("/now", { "service-callback": `${destination.url}/called-back` });
    await publish("/later", { "service-delay": "2s" });

    const heads = () => destination.requests.map(({ head }) => head);
    await eventually(() =>
      paths.every((path) => heads().some(([line = ""]) => line.includes(` ${path} `))),
    );
    await eventually(
      async () => (await statesOf()).filter((state) => state === "DELIVERED").length >= 3,
    );
    expect(services.output()).not.toMatch(/no right|bus\.down/);
  });

  const ask = (path: string, given: RequestInit = {}) =>
    fetch(`${services?.gateway.url}${path}`, {
      ...given,
      headers: { authorization: `Bearer ${token}`, ...given.headers },
    });
  async function publish(path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const answered = await ask(`/v2/publish/${destination.url}${path}`, {
      method: "POST",
      headers,
    });
    expect(answered.status).toBe(200);
  }
  async function statesOf(): Promise<readonly unknown[]> {
    const { events } = (await (await ask("/v2/events")).json()) as { events: { state: string }[] };
    return events.map(({ state }) => state);
  }
});

describe("a right that a user lacks is named in one line and in /readyz, with how to give it, where it is missed:", () => {
  it.each([...new Set(rights.map(({ user }) => user))])("each of %s", async (user) => {
    const own = rights.filter((right) => right.user === user);

    const told = await Promise.all(own.map(toldWithout));

    expect(told).toEqual(
      own.map((right) => ({
        right: nameOf(right),
        lines: sentencesOf(right).map(inOneLine),
        endsWithRight: true,
      })),
    );
  });

  const inOneLine = (sentence: string) => `${sentence}: 1 x`;

  /**
   * Returns the reports of a process of a user without this right, their number of lines, and whether they end once
   * the right is granted.
   */
  async function toldWithout(right: Right) {
    const sentences = sentencesOf(right);
    const log = recordingLog(false);
    const bus = await openKafkaBus({
      brokers: kafka.guarded.get(listener) ?? [],
      prefix,
      clientId: userWithout(right),
      makesTopics: false,
      sasl: { mechanism: "plain", user: userWithout(right), password },
      clock: systemClock(),
      log,
      fatal: (error) => log.error("test.fatal", { error }),
    });
    const tells = () =>
      sentences.length === 0
        ? bus.isUp() && bus.problem() === undefined
        : sentences.every((sentence) => bus.problem()?.includes(sentence));
    const used = use(bus, right);
    try {
      await comes(tells);
      await stays(tells);
      const lines = tells() ? linesOf(log, sentences) : [`instead: ${bus.problem()}`];
      await give([{ ...right, user: userWithout(right) }]);
      const endsWithRight = await comes(() => bus.isUp() && bus.problem() === undefined);
      return { right: nameOf(right), lines, endsWithRight };
    } finally {
      await bus.close();
      await used;
    }
  }

  function linesOf(log: RecordingLog, sentences: readonly string[]): readonly string[] {
    const reasons = log.lines.map(({ fields }) => String(fields["reason"]));
    return sentences.map(
      (sentence) =>
        `${sentence}: ${reasons.filter((reason) => reason.includes(sentence)).length} x`,
    );
  }

  /** Does the work that needs the right: a member hears as its group, all others publish. */
  async function use(bus: KafkaBus, right: Right): Promise<void> {
    if (right.operation === "Read" || right.name === parked) {
      const [topic] = topics.filter((each) => hears(right, each));
      if (topic === undefined) return;
      const subscribed = bus.subscribe(topic, right.user, () => Promise.resolve());
      if (right.name === parked) await sayUnreadable(`${prefix}${topic}`);
      await subscribed;
    } else if (right.operation === "Write") {
      await comes(() => bus.isUp());
      await say(bus);
    }
  }

  const comes = (happened: () => boolean): Promise<boolean> =>
    eventually(happened, toldMsMax).then(
      () => true,
      () => false,
    );

  async function stays(holds: () => boolean): Promise<void> {
    const until = performance.now() + stableMs;
    while (holds() && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

const topics = [
  "message.accepted",
  "message.due",
  "message.settled",
  "scheduler.wake",
] as const satisfies readonly Topic[];

/** Reports whether the right concerns messages that its user hears of the topic. The right to park concerns all that the user hears. */
const hears = ({ user, name }: Right, topic: Topic): boolean =>
  rights.some((each) => each.user === user && each.name === `${prefix}${user}.${topic}`) &&
  (name === parked || name.endsWith(topic));

/**
 * Returns the expected reports without the right. A right to write or read a topic is one to describe it; and without
 * the right to read settings they are not compared.
 */
function sentencesOf({ user, operation, kind, name }: Right): readonly string[] {
  const literal = rights.filter((right) => right.user === user && !right.isPrefix);
  const sentence = (what: string, given: string) =>
    `no right to ${what}: give this user ${given} on it`;
  if (kind === "group") return [sentence(`be in the group ${name}`, "Read")];
  if (operation === "Read") return [sentence(`read the topic ${name}`, "Read")];
  if (operation === "Write" && literal.filter((right) => right.operation === "Write").length > 1)
    return [sentence(`write to the topic ${name}`, "Write")];
  if (operation === "Write")
    return ["no right to be an idempotent producer: give this user Write on its topics"];
  if (operation === "DescribeConfigs") return [];
  const described = new Set(literal.map((right) => right.name));
  return [...topics.map((topic) => `${prefix}${topic}`), parked]
    .filter((topic) => !described.has(topic))
    .map(
      (topic) =>
        `the topic ${topic} is missing, or there is ${sentence("describe it", "Describe")}`,
    );
}

/** Publishes an event to each topic in one request, whose answer names no topic. */
async function say(bus: KafkaBus): Promise<void> {
  const settled = aSettled();
  await Promise.allSettled([
    bus.publish("message.accepted", [settled]),
    bus.publish("message.due", [aHint()]),
    bus.publish("message.settled", [settled]),
    bus.publish("scheduler.wake", [{ shard: 7, at: 0, source: "record" }]),
  ]);
}

/** Publishes a message that no member can read to each partition. */
async function sayUnreadable(topic: string): Promise<void> {
  const producer = operator.producer();
  await producer.connect();
  const messages = Array.from({ length: 16 }, (_, partition) => ({ partition, value: "no event" }));
  await producer.send({ topic, messages });
  await producer.disconnect();
}

type Right = {
  readonly user: string;
  readonly operation: string;
  readonly kind: "topic" | "group";
  readonly name: string;
  readonly isPrefix: boolean;
};

function rightsOfPage(): readonly Right[] {
  return commandsOfPage("kafka-acls.sh").flatMap((words) => {
    const [principal = ""] = after(words, "--allow-principal");
    const [group] = after(words, "--group");
    const [topic = ""] = after(words, "--topic");
    return after(words, "--operation").map((operation) => ({
      user: principal.replace("User:", ""),
      operation,
      kind: group === undefined ? ("topic" as const) : ("group" as const),
      name: group ?? topic,
      isPrefix: after(words, "--resource-pattern-type").includes("prefixed"),
    }));
  });
}

const nameOf = ({ user, operation, kind, name }: Right): string =>
  `${operation} on ${kind} ${name} by ${user}`;

const userWithout = (right: Right): string =>
  `${right.user}-without-${rights.findIndex((each) => nameOf(each) === nameOf(right))}`;

const allBut = (right: Right): readonly Right[] =>
  rights
    .filter((each) => each.user === right.user && nameOf(each) !== nameOf(right))
    .map((each) => ({ ...each, user: userWithout(right) }));

async function give(given: readonly Right[]): Promise<void> {
  await admin.createAcls({ acl: given.map(entryOf) });
}

/** Resolves when the broker knows all rights of the users. */
const areKnown = (given: readonly Right[]): Promise<void> =>
  eventually(async () => {
    const { resources } = await admin.describeAcls({
      resourceType: AclResourceTypes.ANY,
      resourcePatternType: ResourcePatternTypes.ANY,
      operation: AclOperationTypes.ANY,
      permissionType: AclPermissionTypes.ANY,
    });
    return resources.flatMap(({ acls }) => acls).length === given.length;
  });

function entryOf({ user, operation, kind, name, isPrefix }: Right) {
  const operations: Readonly<Record<string, number>> = {
    Describe: AclOperationTypes.DESCRIBE,
    DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
    Read: AclOperationTypes.READ,
    Write: AclOperationTypes.WRITE,
  };
  return {
    resourceType: kind === "topic" ? AclResourceTypes.TOPIC : AclResourceTypes.GROUP,
    resourceName: name,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: "*",
    operation: operations[operation] ?? AclOperationTypes.UNKNOWN,
    permissionType: AclPermissionTypes.ALLOW,
  };
}

function commandsOfPage(name: string): readonly (readonly string[])[] {
  const commands = blocksOf("sh kafka").flatMap(({ code }) =>
    code.replaceAll("\\\n", " ").split("\n"),
  );
  return commands
    .filter((command) => command.startsWith(`${name} `))
    .map((command) => command.split(/\s+/));
}

function after(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, at) => (word === option ? (words[at + 1] ?? []) : []));
}

function madeTopic(words: readonly string[]) {
  return {
    topic: after(words, "--topic").join(),
    numPartitions: Number(after(words, "--partitions")[0]),
    replicationFactor: -1,
    configEntries: after(words, "--config").map((config) => {
      const [key = "", value = ""] = config.split("=");
      return { name: key, value };
    }),
  };
}

/** Opens a listener at which each user of the page has the same password. */
function guard(): Guard {
  const users = [
    ...new Set(rights.flatMap((right) => [right.user, userWithout(right)])),
    "management",
  ];
  const login = "org.apache.kafka.common.security.plain.PlainLoginModule required";
  const known = users.map((user) => `user_${user}="${password}"`).join(" ");
  return {
    name: listener,
    protocol: "SASL_PLAINTEXT",
    settings: {
      "sasl.enabled.mechanisms": "PLAIN",
      "plain.sasl.jaas.config": `${login} ${known};`,
    },
  };
}
