/** Tests each server as the stack starts it: acknowledged data survive a `kill -9`, and the address stays. */
import { beforeEach, describe, expect, it, jest } from "@jest/globals";
import { connect } from "node:net";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { MongoClient } from "mongodb";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { startKafka } from "./kafka.ts";
import { startMongod } from "./mongod.ts";
import { type RunningServer, type ServerPlace } from "./place.ts";
import { ServerProcess } from "../process/server-process.ts";
import { startRedis } from "./redis.ts";

jest.setTimeout(300_000);

type Subject = {
  readonly kind: string;
  readonly start: (place: ServerPlace) => Promise<RunningServer>;
  /** Resolves when the write is acknowledged. */
  readonly write: (server: RunningServer, text: string) => Promise<void>;
  readonly read: (server: RunningServer) => Promise<string[]>;
};

const subjects: readonly Subject[] = [
  {
    kind: "Redis",
    start: startRedis,
    write: async (server, text) => void (await redisAnswer(server, `RPUSH list ${text}`)),
    read: async (server) => {
      const lines = (await redisAnswer(server, "LRANGE list 0 -1")).split("\r\n");
      return lines.filter((line) => /^\w/.test(line));
    },
  },
  {
    kind: "Kafka",
    start: startKafka,
    write: async (server, text) => {
      const kafka = clientOf(server);
      const admin = kafka.admin();
      await admin.connect();
      await admin.createTopics({ topics: [{ topic: "texts", numPartitions: 1 }] });
      await admin.disconnect();
      const producer = kafka.producer();
      await producer.connect();
      await producer.send({ topic: "texts", acks: -1, messages: [{ value: text }] });
      await producer.disconnect();
    },
    read: async (server) => {
      const consumer = clientOf(server).consumer({ groupId: "readers" });
      await consumer.connect();
      await consumer.subscribe({ topic: "texts", fromBeginning: true });
      const value = await new Promise<string>((resolve) => {
        const eachMessage = async ({ message }: { message: { value: Buffer | null } }) =>
          resolve(String(message.value));
        void consumer.run({ eachMessage });
      });
      await consumer.disconnect();
      return [value];
    },
  },
  {
    kind: "MongoDB",
    start: startMongod,
    write: writeDocument,
    read: readDocuments,
  },
];

let dir: string;

beforeEach(() => {
  dir = temporaryFolder();
});

describe.each(subjects)("$kind", ({ start, write, read }) => {
  it("has acknowledged writes after a kill -9, on the same port", async () => {
    const server = await start({ dir });
    try {
      const { port } = server;
      await write(server, "kept");

      await server.process.kill();
      expect(server.process.isRunning).toBe(false);
      await server.process.restart();

      expect(server.port).toBe(port);
      expect(await read(server)).toEqual(["kept"]);
    } finally {
      await server.process.stop();
    }
  });
});

describe("two of each", () => {
  it("run side by side and share nothing", async () => {
    const first = await startRedis({ dir: join(dir, "first") });
    const second = await startRedis({ dir: join(dir, "second") });
    try {
      await redisAnswer(first, "RPUSH list one");

      expect(second.port).not.toBe(first.port);
      expect(await redisAnswer(second, "LLEN list")).toBe(":0\r\n");
    } finally {
      await Promise.all([first.process.stop(), second.process.stop()]);
    }
  });
});

describe("a paused server", () => {
  it("answers nothing until it continues, and then the earlier calls", async () => {
    const server = await startRedis({ dir });
    try {
      server.process.pause();
      let hasAnswered = false;
      const answer = redisAnswer(server, "PING").then((text) => {
        hasAnswered = true;
        return text;
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(hasAnswered).toBe(false);

      server.process.resume();

      expect(await answer).toBe("+PONG\r\n");
    } finally {
      await server.process.stop();
    }
  });
});

describe("a server that cannot start", () => {
  it("says why, in its own words", async () => {
    const server = new ServerProcess(
      { name: "cat", file: "cat", args: [join(dir, "no-such-file")] },
      () => false,
    );

    await expect(server.start()).rejects.toThrow(/^cat ended before it was ready: .*No such file/);
  });

  it("is not mistaken for the server that has its port", async () => {
    const first = await startRedis({ dir });
    try {
      const second = startRedis({ dir: join(dir, "second"), port: first.port });

      await expect(second).rejects.toThrow("another process answers on its port");
    } finally {
      await first.process.stop();
    }
  });
});

/** Returns the first packet of the answer to an inline command, which is enough here. */
function redisAnswer({ host, port }: RunningServer, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once("error", reject);
    socket.once("data", (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.write(`${command}\r\n`);
  });
}

function clientOf({ host, port }: RunningServer): Kafka {
  const retry = { retries: 30 };
  return new Kafka({ brokers: [`${host}:${port}`], logLevel: logLevel.NOTHING, retry });
}

async function writeDocument(server: RunningServer, text: string): Promise<void> {
  await withDocuments(server, async (client) => {
    const texts = client.db("test").collection("texts");
    await texts.insertOne({ text }, { writeConcern: { w: "majority", journal: true } });
  });
}

async function readDocuments(server: RunningServer): Promise<string[]> {
  return withDocuments(server, async (client) => {
    const texts = client.db("test").collection<{ text: string }>("texts");
    return (await texts.find().toArray()).map(({ text }) => text);
  });
}

async function withDocuments<Answer>(
  { host, port }: RunningServer,
  work: (client: MongoClient) => Promise<Answer>,
): Promise<Answer> {
  const client = new MongoClient(`mongodb://${host}:${port}/`);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
