/**
 * A server, an endpoint of workflows and a third party for the tests of one file, with the clients of the SDK. They are there
 * once `startBeforeTests` has been called at the top of the file.
 */
import { afterAll, beforeAll, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client, serve, type WorkflowContext } from "@upstash/workflow";
import { Destination } from "./destination.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

export let server: TestServer;
export let endpoint: WorkflowEndpoint;
export let third: Destination;
export let client: Client;
export let qstashClient: Qstash;

export function startBeforeTests(): void {
  beforeAll(async () => {
    // The SDK prints each error of a step.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    server = await startServer();
    endpoint = await WorkflowEndpoint.start();
    third = await Destination.start();
    const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
    client = new Client(settings);
    qstashClient = new Qstash(settings);
  });
  afterAll(async () => {
    await endpoint.stop();
    await third.stop();
    await server.stop();
  });
}

/** Serves `route` at `path` of the endpoint. `ended` resolves to what it returns. */
export function workflow<Result>(
  path: string,
  route: (context: WorkflowContext) => Promise<Result>,
) {
  const { promise: ended, resolve } = Promise.withResolvers<Result>();
  const { handler } = serve(
    async (context) => {
      const result = await route(context);
      resolve(result);
      return result;
    },
    { qstashClient, disableTelemetry: true },
  );
  return { url: endpoint.route(path, handler), ended };
}
