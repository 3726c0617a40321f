/**
 * A server for the tests of one file, with a destination, the clients of two tenants and the operator. They are there once
 * `startBeforeTests` has been called at the top of the file.
 */
import { afterAll, beforeAll } from "@jest/globals";
import { Client } from "./client.ts";
import { Destination } from "./destination.ts";
import { Operator } from "./operator.ts";
import { startServer, type TestServer } from "./server.ts";
import { type Settings } from "./test-server.ts";
import { secondUser } from "./users.ts";

export let server: TestServer;
export let client: Client;
export let other: Client;
/** Needs the settings of `operatorEnv`. */
export let operator: Operator;
export let destination: Destination;

export function startBeforeTests(settings: Settings = {}): void {
  beforeAll(async () => {
    server = await startServer(settings);
    client = server.client;
    other = new Client(server.port, secondUser.token);
    operator = new Operator(server);
    destination = await Destination.start();
  });
  afterAll(async () => {
    await destination.stop();
    await server.stop();
  });
}

/** Waits for a later message. An earlier one that should not arrive would have arrived by then. */
export async function nothingElseArrives(): Promise<void> {
  const path = `/after/${Math.random()}`;
  await client.published(destination.url(path), { "Service-Delay": "1s" });
  await destination.arrival(path);
}
