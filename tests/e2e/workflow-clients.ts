/**
 * A server, an endpoint of workflows and a third party for the tests of one file, with the clients of the SDK. They are there
 * once `startBeforeTests` has been called at the top of the file.
 */
import { createServer, type Server } from "node:http";
import { afterAll, afterEach, beforeAll, jest } from "@jest/globals";
import { Client as Qstash, Receiver } from "@upstash/qstash";
import { Client, serve, type TriggerOptions, type WorkflowServeOptions } from "@upstash/workflow";
import express, { type RequestHandler } from "express";
import { eventually, hasStatus } from "./client.ts";
import { Destination } from "./destination.ts";
import { close, listen } from "./loopback.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { type Settings } from "./test-server.ts";
import { firstUser } from "./users.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

export let server: TestServer;
export let endpoint: WorkflowEndpoint;
export let third: Destination;
export let client: Client;
export let qstashClient: Qstash;

export function startBeforeTests(settings: Settings = {}): void {
  beforeAll(async () => {
    // The SDK prints each error of a step.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    server = await startServer(settings);
    endpoint = await WorkflowEndpoint.start();
    third = await Destination.start();
    client = new Client(clientSettings());
    qstashClient = new Qstash(clientSettings());
  });
  // An endpoint reports the end to the server after its route has returned.
  afterEach(async () => {
    for (const id of started.splice(0)) await hasEnded(id);
  });
  afterAll(async () => {
    await Promise.all(listeners.map(close));
    await endpoint.stop();
    await third.stop();
    await server.stop();
  });
}

/** The runs to await after the test. */
export const started: string[] = [];

/** Starts a run, whose end is awaited after the test. */
export async function trigger(options: TriggerOptions): Promise<string> {
  const { workflowRunId } = await client.trigger(options);
  started.push(workflowRunId);
  return workflowRunId;
}

/** Waits for the end of a run, whichever way it ends: its history is then no longer served. */
export const hasEnded = (id: string) =>
  eventually(() => server.client.get(`/v2/workflows/runs/${id}`), hasStatus(404));

export const clientSettings = () => ({
  baseUrl: `http://127.0.0.1:${server.port}`,
  token: developmentToken,
});

export const receiver = new Receiver({
  currentSigningKey: firstUser.keys.current,
  nextSigningKey: firstUser.keys.next,
});

export type Context<Payload> = Parameters<Parameters<typeof serve<Payload>>[0]>[0];

/** Serves `route` at `path` of the endpoint. `ended` resolves to what it returns. */
export function workflow<Payload, Result>(
  path: string,
  route: (context: Context<Payload>) => Promise<Result>,
  options: Partial<WorkflowServeOptions<Payload>> = {},
) {
  const { promise: ended, resolve } = Promise.withResolvers<Result>();
  const { handler } = serve<Payload>(
    async (context) => {
      const result = await route(context);
      resolve(result);
      return result;
    },
    { qstashClient, receiver, disableTelemetry: true, ...options },
  );
  return { url: endpoint.route(path, handler), ended };
}

const listeners: Server[] = [];

/** Serves workflows behind express until the end of the file's tests. `deliveries`: the path and the history of each that came. */
export async function listening(workflows: RequestHandler) {
  const deliveries: { readonly path: string; readonly length: number }[] = [];
  const app = express().use(express.json());
  app.use(({ path, body }, _, next) => {
    deliveries.push({ path, length: Array.isArray(body) ? body.length : 0 });
    next();
  });
  const listener = createServer(app.use("/many", workflows));
  listeners.push(listener);
  return { url: `http://127.0.0.1:${await listen(listener)}/many`, deliveries };
}

export const logged = async (workflowRunId: string) =>
  (await client.logs({ workflowRunId })).runs[0];

export const inState = (id: string, state: string) =>
  eventually(
    () => logged(id),
    (run) => run?.workflowState === state,
  );
