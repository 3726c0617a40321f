/** Workflows of the npm package `@upstash/workflow`, unmodified, against the server. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Client, serve, type WorkflowServeOptions } from "@upstash/workflow";
import { Client as Qstash, Receiver } from "@upstash/qstash";
import { eventually } from "./client.ts";
import { startServer, type TestServer } from "./server.ts";
import { developmentToken } from "./server-process.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

let server: TestServer;
let endpoint: WorkflowEndpoint;
let client: Client;
let qstashClient: Qstash;

beforeAll(async () => {
  // The SDK prints each error of a step, and there are some here.
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  server = await startServer();
  endpoint = await WorkflowEndpoint.start();
  const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
  client = new Client(settings);
  qstashClient = new Qstash(settings);
});
afterAll(async () => {
  await endpoint.stop();
  await server.stop();
});

const receiver = new Receiver({
  currentSigningKey: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r",
  nextSigningKey: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs",
});

type Context<Payload> = Parameters<Parameters<typeof serve<Payload>>[0]>[0];

/** A workflow at a path of its own. Resolves `ended` with what its route returns. */
function workflow<Payload, Result>(
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

/** Ended, whichever way: its history is not served any more. */
const hasEnded = (id: string) =>
  eventually(
    async () => (await server.client.get(`/v2/workflows/runs/${id}`)).status,
    (status) => status === 404,
  );

describe("a workflow", () => {
  it("runs its steps in sequence, each once, one delivery more than steps", async () => {
    const done: string[] = [];
    const { url, ended } = workflow<{ name: string }, string>("/sequence", async (context) => {
      const first = await context.run("first", () => {
        done.push("first");
        return `hello ${context.requestPayload.name}`;
      });
      const second = await context.run("second", () => {
        done.push("second");
        return `${first}, ${context.headers.get("my-header")}`;
      });
      return second;
    });

    const { workflowRunId } = await client.trigger({
      url,
      body: { name: "world" },
      headers: { "My-Header": "how are you" },
    });

    expect(await ended).toBe("hello world, how are you");
    await hasEnded(workflowRunId);
    expect(done).toEqual(["first", "second"]);
    expect(endpoint.deliveries("/sequence").map(({ length }) => length)).toEqual([1, 2, 3]);
    for (const { headers } of endpoint.deliveries("/sequence"))
      expect(headers).toMatchObject({ "upstash-workflow-runid": workflowRunId });
  });

  it("runs a parallel group with a sleep: each delivery carries the history up to its own entry", async () => {
    const { url, ended } = workflow("/parallel", async (context) => {
      const [a, b] = await Promise.all([
        context.run("a", () => 1),
        context.run("b", () => 2),
        context.sleep("nap", 1),
      ]);
      return a + b;
    });

    const { workflowRunId } = await client.trigger({ url });

    expect(await ended).toBe(3);
    await hasEnded(workflowRunId);
    const lengths = endpoint.deliveries("/parallel").map(({ length }) => length);
    expect(lengths.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("sleeps between two steps", async () => {
    const times: number[] = [];
    const { url, ended } = workflow("/sleep", async (context) => {
      await context.run("before", () => void times.push(Date.now()));
      await context.sleep("a second", 1);
      await context.run("after", () => void times.push(Date.now()));
      return "done";
    });

    await client.trigger({ url });

    expect(await ended).toBe("done");
    const [before = 0, after = 0] = times;
    expect(after - before).toBeGreaterThanOrEqual(1_000);
    expect(endpoint.deliveries("/sleep")).toHaveLength(4);
  });

  it("retries a step that fails, and carries the same history again", async () => {
    let tries = 0;
    const { url, ended } = workflow("/retried", async (context) =>
      context.run("fails once", () => {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
        return tries;
      }),
    );

    await client.trigger({ url, retryDelay: "10" });

    expect(await ended).toBe(2);
    const deliveries = endpoint.deliveries("/retried");
    expect(deliveries.map(({ length }) => length)).toEqual([1, 1, 2]);
    expect(deliveries.map(({ headers }) => headers["upstash-retried"])).toEqual(["0", "1", "0"]);
  });

  it("fails when its retries are used, and its failure function is told why, once", async () => {
    const failures: unknown[] = [];
    const { url } = workflow(
      "/failing",
      async (context) => {
        await context.run("fine", () => 1);
        await context.run("fails", () => {
          throw new Error("broken");
        });
      },
      {
        failureFunction: async ({ context, failStatus, failResponse }) => {
          failures.push({
            id: context.workflowRunId,
            payload: context.requestPayload,
            failStatus,
            failResponse,
          });
        },
      },
    );

    const { workflowRunId } = await client.trigger({
      url,
      body: { of: "it" },
      retries: 1,
      retryDelay: "10",
    });

    await hasEnded(workflowRunId);
    await eventually(
      async () => failures,
      ({ length }) => length > 0,
    );
    expect(failures).toEqual([
      { id: workflowRunId, payload: { of: "it" }, failStatus: 500, failResponse: "broken" },
    ]);
    expect(endpoint.deliveries("/failing").map(({ length }) => length)).toEqual([1, 2, 2, 0]);
  });

  it("that names a run which is active starts none, and the same name is free when that has ended", async () => {
    const { url, ended } = workflow("/named", async (context) => {
      await context.sleep("a second", 1);
      return "done";
    });

    await client.trigger({ url, workflowRunId: "one-name" });
    await client.trigger({ url, workflowRunId: "one-name" });
    expect(await ended).toBe("done");
    await hasEnded("wfr_one-name");
    expect(endpoint.deliveries("/named")).toHaveLength(2);

    await client.trigger({ url, workflowRunId: "one-name" });
    await hasEnded("wfr_one-name");
    expect(endpoint.deliveries("/named")).toHaveLength(4);
  });

  it("that is cancelled is delivered no more, and says so once", async () => {
    const { url } = workflow("/cancelled", async (context) => {
      await context.sleep("two seconds", 2);
      await context.run("never", () => 1);
    });
    const { workflowRunId } = await client.trigger({ url });
    await eventually(
      async () => endpoint.deliveries("/cancelled"),
      ({ length }) => length > 0,
    );

    expect(await client.cancel({ ids: [workflowRunId] })).toEqual({ cancelled: 1 });
    expect(await client.cancel({ ids: [workflowRunId] })).toEqual({ cancelled: 0 });
    await hasEnded(workflowRunId);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(endpoint.deliveries("/cancelled")).toHaveLength(1);
  });

  it("starts itself when its endpoint is asked directly", async () => {
    const { url, ended } = workflow<{ n: number }, number>("/direct", async (context) =>
      context.run("add", () => context.requestPayload.n + 1),
    );

    await qstashClient.publishJSON({ url, body: { n: 1 } });

    expect(await ended).toBe(2);
    expect(endpoint.deliveries("/direct").map(({ length }) => length)).toEqual([0, 1, 2]);
  });
});
