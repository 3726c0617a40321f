/** A Kafka client of a test, beside the bus that the test is about. */
import { Kafka, logLevel } from "kafkajs";
import { eventually } from "./events.fixture.ts";
import { type OpenBuses } from "./opened.fixture.ts";

export type Beside = ReturnType<typeof openBeside>;

export function openBeside({ brokers, prefix }: Pick<OpenBuses, "brokers" | "prefix">) {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId: "beside",
    logLevel: logLevel.NOTHING,
  });

  /** Returns the first `count` messages of a topic, as they are stored. */
  async function messagesOf(topic: string, count: number) {
    const consumer = kafka.consumer({ groupId: `${prefix}beside.${topic}` });
    const read: {
      key: string | undefined;
      value: Buffer | null;
      headers: Record<string, string>;
    }[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic: prefix + topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message: { key, value, headers = {} } }) => {
        const texts: Record<string, string> = {};
        for (const [name, text] of Object.entries(headers)) texts[name] = String(text);
        read.push({ key: key?.toString(), value, headers: texts });
      },
    });
    await eventually(() => read.length >= count);
    await consumer.disconnect();
    return read;
  }

  async function asAdmin<R>(task: (admin: ReturnType<Kafka["admin"]>) => Promise<R>): Promise<R> {
    const admin = kafka.admin();
    await admin.connect();
    try {
      return await task(admin);
    } finally {
      await admin.disconnect();
    }
  }

  return { kafka, messagesOf, asAdmin };
}
