import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { logLevel } from "kafkajs";
import { newClient } from "./client.ts";

const sockets = new Set<Socket>();
let broker: Server;

beforeAll(async () => {
  broker = createServer((socket) => {
    sockets.add(socket);
    socket.once("data", (request) => socket.write(versionsAfter(request)));
  }).listen(0, "127.0.0.1");
  await once(broker, "listening");
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  broker.close();
});

/** Returns the answer to ApiVersions, the first request of a connection: the broker knows Metadata, and answers nothing else. */
function versionsAfter(request: Buffer): Buffer {
  const [metadataKey, oldest, newest] = [3, 0, 5];
  const answer = Buffer.alloc(24);
  answer.writeInt32BE(answer.length - 4, 0);
  answer.writeInt32BE(request.readInt32BE(8), 4);
  answer.writeInt32BE(1, 10);
  answer.writeInt16BE(metadataKey, 14);
  answer.writeInt16BE(oldest, 16);
  answer.writeInt16BE(newest, 18);
  return answer;
}

it("a request that a broker leaves without an answer fails after the time that is set", async () => {
  const { port } = broker.address() as AddressInfo;
  const quiet = { level: logLevel.NOTHING, creator: () => () => undefined };
  const { kafka, breakOff } = newClient(
    {
      ...{ brokers: [`127.0.0.1:${port}`], clientId: "a", quiet },
      ...{ secureContext: undefined, login: undefined, requestMs: 50 },
    },
    0,
  );

  await expect(kafka.admin().listTopics()).rejects.toThrow(
    "Metadata(key: 3, version: 5) timed out",
  );

  breakOff();
});
