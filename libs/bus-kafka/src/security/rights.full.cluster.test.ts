/** The rights that docs/kafka.md gives, and no others, at a broker that asks for them. The stores are this file's own. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  type Guard,
  type RunningKafka,
  type RunningServices,
  startKafka,
  startServices,
  startStores,
  type Stores,
} from "@posthaste/local";
import { answer, type Destination, openDestination } from "@posthaste/testing";
import { blocksOf } from "@posthaste/testing/pages";
import kafkajs, { type Admin, Kafka, logLevel } from "kafkajs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../events.fixture.ts";

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const dir = mkdtempSync(join(tmpdir(), "posthaste-rights-"));
const startMsMax = 300_000;
const testMsMax = 180_000;
const listener = "USERS";
const password = "a-password";
const token = "a-token-of-this-test";
let kafka: RunningKafka;
let admin: Admin;

beforeAll(async () => {
  kafka = await startKafka({ dir }, [guard()], {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    // The broker itself, and this file where it makes topics and gives rights.
    "super.users": "User:ANONYMOUS",
  });
  const brokers = [...kafka.brokers];
  admin = new Kafka({ brokers, clientId: "operator", logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createTopics({ topics: commandsOfPage("kafka-topics.sh").map(madeTopic) });
  await give(rights());
}, startMsMax);
afterAll(async () => {
  await admin.disconnect();
  await kafka.process.stop();
  rmSync(dir, { recursive: true, force: true });
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

  it(
    "have all that they need: deliver, call back, ring alarms, and remember",
    async () => {
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
      expect(services.output()).not.toMatch(/no right|bus\.(down|consumer_ended)/);
    },
    testMsMax,
  );

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

type Right = {
  readonly user: string;
  readonly operation: string;
  readonly kind: "topic" | "group";
  readonly name: string;
  readonly isPrefix: boolean;
};

/** Returns the rights that the page gives, one for each operation. */
function rights(): readonly Right[] {
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

const give = (given: readonly Right[]): Promise<unknown> =>
  admin.createAcls({ acl: given.map(entryOf) });

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

/** Returns the words of each command of this name on the page. */
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

/** A listener at which each user of the page has the same password. */
function guard(): Guard {
  const users = [...new Set(rights().map(({ user }) => user)), "management"];
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
