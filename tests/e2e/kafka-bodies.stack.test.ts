/** Tests which parts of messages are in Kafka, by reading the topics as any client of the brokers may. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { type RunningServices, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Kafka, logLevel } from "kafkajs";
import { Client, eventually } from "./client.ts";
import { Destination } from "./destination.ts";

const stores = testStores();
const room = `bodies-${randomBytes(6).toString("hex")}`;
const canary = `canary-${randomBytes(8).toString("hex")}`;
jest.setTimeout(180_000);
let destination: Destination;
let services: RunningServices;

beforeAll(async () => {
  destination = await Destination.start();
  services = await startServices({
    stores,
    room,
    // The second gateway keeps bodies out. The services that receive the ends of messages add none.
    counts: { gateway: 2, "callback-dispatcher": 0, "workflow-log": 0 },
    env: { POSTHASTE_LOG_LEVEL: "warn", POSTHASTE_KAFKA_PARTITIONS: "2" },
    envOf: (service, number) =>
      service === "gateway" ? { POSTHASTE_KAFKA_BODIES: number === 1 ? "on" : "off" } : {},
  });
});
afterAll(async () => {
  await services.stop();
  await destination.stop();
});

const clientOf = (number: number): Client =>
  new Client(services.of("gateway")[number - 1]?.port ?? 0);

const publish = async (client: Client, name: string, headers: Record<string, string> = {}) => {
  await client.published(
    destination.url(`/${name}`),
    { "service-forward-x-secret": `${canary}-header-${name}`, ...headers },
    `${canary}-body-${name}`,
  );
  await destination.arrival(`/${name}`, 60_000);
};

/** Returns everything in the topics, with base64 parts decoded beside their text. */
async function standsInKafka(): Promise<string> {
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
  it("hold bodies and forwarded headers of plain messages, and none of messages with redactions", async () => {
    const client = clientOf(1);
    let nth = 0;
    await eventually(
      async () => {
        await publish(client, `plain-${nth++}`);
        return standsInKafka();
      },
      (stands) => stands.includes(`${canary}-body-plain`),
      60_000,
    );
    await publish(client, "redacted", { "service-redact-fields": "body,header" });

    const stands = await standsInKafka();

    expect(stands).toContain(`${canary}-header-plain`);
    expect(stands).not.toMatch(/(body|header)-redacted/);
  });

  it("hold no body when the setting of the gateways keeps bodies out", async () => {
    const client = clientOf(2);
    for (let nth = 0; nth < 5; nth++) await publish(client, `kept-out-${nth}`);

    const stands = await standsInKafka();

    expect(stands).toContain("message.due");
    expect(stands).not.toContain(`${canary}-body-kept-out`);
  });
});
