/** Covers patches/mongodb@7.9.0.patch: the driver waited for ever for a destroyed socket to drain. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { type Collection, MongoClient } from "mongodb";
import { servers } from "./servers.fixture.ts";

const [server] = servers;
if (!server) throw new Error("unreachable");

const database = "destroyed-socket";
const channel = "net.client.socket";
const largeBytes = 12 * 1024 * 1024;

let sockets: Socket[];
let client: MongoClient;
let collection: Collection;

const opened = (message: unknown): void => {
  sockets.push((message as { readonly socket: Socket }).socket);
};

beforeEach(async () => {
  sockets = [];
  subscribe(channel, opened);
  client = new MongoClient(server.uri, {
    maxPoolSize: 1,
    monitorCommands: true,
    retryReads: false,
    retryWrites: false,
  });
  collection = client.db(database).collection("things");
  await collection.findOne({});
});

afterEach(async () => {
  unsubscribe(channel, opened);
  await client.db(database).dropDatabase();
  await client.close();
});

/** `when` runs its task some time after the driver has reported the command's start. */
const breakNextCommand = (when: (task: () => void) => unknown): void => {
  client.once("commandStarted", () => {
    when(() => {
      for (const socket of sockets) socket.destroy();
    });
  });
};

it("a call whose connection ends before it is written fails, and its connection is no longer counted", async () => {
  breakNextCommand(queueMicrotask);

  await expect(collection.findOne({})).rejects.toMatchObject({ name: "MongoNetworkError" });
  expect(await collection.findOne({})).toBeNull();
});

it("a call whose connection ends while it is written fails, and its connection is no longer counted", async () => {
  breakNextCommand(setImmediate);
  const large = collection.insertOne({ text: "x".repeat(largeBytes) });

  await expect(large).rejects.toMatchObject({ name: "MongoNetworkError" });
  expect(await collection.countDocuments({ none: true })).toBe(0);
});
