/** Tests which parts of messages are in Kafka, by reading the topics as any client of the brokers may. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { type RunningServices, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Kafka, logLevel } from "kafkajs";
import { Client, eventually } from "./client.ts";
import { Destination } from "./destination.ts";

const stores = testStores();
const canary = `canary-${randomBytes(8).toString("hex")}`;
let destination: Destination;
let services: RunningServices | undefined;

beforeAll(async () => {
  destination = await Destination.start();
});
afterEach(async () => {
  await services?.stop();
});
afterAll(() => destination.stop());

const timeoutMs = 180_000;

async function start(bodies: "on" | "off"): Promise<{ client: Client; prefix: string }> {
  const room = `bodies-${randomBytes(6).toString("hex")}`;
  services = await startServices({
    stores,
    room,
    env: { POSTHASTE_LOG_LEVEL: "warn", POSTHASTE_KAFKA_PARTITIONS: "2" },
    envOf: (service) => (service === "gateway" ? { POSTHASTE_KAFKA_BODIES: bodies } : {}),
  });
  return { client: new Client(services.gateway.port), prefix: room };
}

const publish = async (client: Client, name: string, headers: Record<string, string> = {}) => {
  await client.published(
    destination.url(`/${name}`),
    { "service-forward-x-secret": `${canary}-header`, ...headers },
    `${canary}-${name}`,
  );
  await destination.arrival(`/${name}`, 60_000);
};

/** Returns everything in the topics of a room, with base64 parts decoded beside their text. */
async function standsInKafka(room: string): Promise<string> {
  const kafka = new Kafka({
    brokers: [...(stores.kafka?.brokers ?? [])],
    clientId: "beside",
    logLevel: logLevel.NOTHING,
  });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.includes(room));
  const offsets = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
  await admin.disconnect();
  const said = offsets.flat().reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  const consumer = kafka.consumer({ groupId: `beside-${randomBytes(6).toString("hex")}` });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  const read: string[] = [];
  await consumer.run({
    eachMessage: async ({ message }) => {
      const text = message.value?.toString() ?? "";
      const decoded = [...text.matchAll(/"body":"([^"]+)"/g)].map(([, body = ""]) =>
        Buffer.from(body, "base64").toString(),
      );
      read.push(text, ...decoded, JSON.stringify(message.headers ?? {}));
    },
  });
  await eventually(
    () => Promise.resolve(read.length),
    (length) => length >= 2 * said,
    60_000,
  );
  await consumer.disconnect();
  return read.join("\n");
}

describe("the topics of Kafka", () => {
  it(
    "hold bodies and forwarded headers of plain messages, and none of those with redactions",
    async () => {
      const { client, prefix } = await start("on");
      let nth = 0;
      await eventually(
        async () => {
          await publish(client, `plain-${nth++}`);
          return standsInKafka(prefix);
        },
        (stands) => /canary-\w+-plain/.test(stands),
        60_000,
      );
      await publish(client, "redacted", { "service-redact-fields": "body,header" });

      const stands = await standsInKafka(prefix);

      expect(stands).toContain(`${canary}-header`);
      expect(stands).not.toContain(`${canary}-redacted`);
    },
    timeoutMs,
  );

  it(
    "hold neither where gateways are told to keep them out",
    async () => {
      const { client, prefix } = await start("off");
      for (let nth = 0; nth < 5; nth++) await publish(client, `kept-out-${nth}`);

      const stands = await standsInKafka(prefix);

      expect(stands).toContain("message.due");
      expect(stands).not.toContain(`${canary}-kept-out`);
    },
    timeoutMs,
  );
});
