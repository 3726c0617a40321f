/**
 * Tests workflows of the npm package `@upstash/workflow` 0.2, unmodified. A start does not say how the run is
 * delivered, and each step is published with the settings that its endpoint was given.
 */
import { beforeAll, describe, expect, it, jest } from "@jest/globals";
import {
  Client,
  serve,
  type WorkflowContext,
  WorkflowNonRetryableError,
} from "@upstash/workflow-0";
import { createWorkflow, serveMany } from "@upstash/workflow-0/express";
import { eventually, isFilled } from "./client.ts";
import {
  clientSettings,
  endpoint,
  inState,
  listening,
  qstashClient,
  startBeforeTests,
  third,
} from "./workflow-clients.ts";

let client: Client;

startBeforeTests();
beforeAll(() => {
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
  client = new Client(clientSettings());
});

type Options = Parameters<typeof serve>[1];

function workflow<Result>(
  path: string,
  route: (context: WorkflowContext) => Promise<Result>,
  options: Options = {},
) {
  const { promise: ended, resolve } = Promise.withResolvers<Result>();
  const { handler } = serve(
    async (context) => {
      const result = await route(context);
      resolve(result);
      return result;
    },
    { qstashClient, disableTelemetry: true, ...options },
  );
  return { url: endpoint.route(path, handler), ended };
}

/** Returns the length of the history in each delivery of the run, in ascending order. */
const lengthsOf = (path: string): readonly number[] =>
  endpoint
    .deliveries(path)
    .map(({ length }) => length)
    .toSorted((a, b) => a - b);

describe("a workflow of 0.2", () => {
  it("runs its steps in sequence, each once, with the caller's headers", async () => {
    const done: string[] = [];
    const { url, ended } = workflow("/sequence", async (context) => {
      const one = await context.run("one", () => done.push("one"));
      await context.sleep("nap", 1);
      const two = await context.run("two", () => done.push("two"));
      return [one, two, context.requestPayload, context.headers.get("my-own")];
    });

    const { workflowRunId } = await client.trigger({
      ...{ url, body: { is: "given" }, headers: { "My-Own": "kept" } },
      workflowRunId: "older",
    });

    expect(await ended).toEqual([1, 2, { is: "given" }, "kept"]);
    await inState(workflowRunId, "RUN_SUCCESS");
    expect(lengthsOf("/sequence")).toEqual([1, 2, 3, 4]);
    expect(done).toEqual(["one", "two"]);
  });

  it("runs a group: each delivery carries the history up to its own entry", async () => {
    const { url, ended } = workflow("/group", async (context) =>
      Promise.all([context.run("a", () => 1), context.run("b", () => 2), context.sleep("nap", 1)]),
    );
    const { workflowRunId } = await client.trigger({ url });

    expect((await ended).slice(0, 2)).toEqual([1, 2]);
    await inState(workflowRunId, "RUN_SUCCESS");
    expect(lengthsOf("/group")).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("calls a third party, and receives the last answer of a call that fails", async () => {
    third.answers("/called", (_, response, nth) =>
      response
        .writeHead(nth === 0 ? 500 : 200, { "content-type": "application/json" })
        .end(`"answer ${nth}"`),
    );
    const { url, ended } = workflow("/call", async (context) => {
      const call = { url: third.url("/called"), method: "POST", body: { asked: 1 } } as const;
      const failed = await context.call("fails", call);
      const { body, status } = await context.call("call", call);
      return [failed.status, status, body];
    });
    const { workflowRunId } = await client.trigger({ url });

    expect(await ended).toEqual([500, 200, "answer 1"]);
    await inState(workflowRunId, "RUN_SUCCESS");
    expect(endpoint.deliveries("/call")).toHaveLength(1 + 2 * 2);
    expect(third.at("/called").map(({ body }) => String(body))).toEqual([
      '{"asked":1}',
      '{"asked":1}',
    ]);
    for (const { headers } of third.at("/called"))
      expect(Object.keys(headers).filter((name) => name.includes("workflow"))).toEqual([]);
  });

  it("waits for an event, and continues when the time of a wait is over", async () => {
    const { url, ended } = workflow("/wait", async (context) => {
      const first = await context.waitForEvent("late", "never.comes", { timeout: "1s" });
      const { eventData } = await context.waitForEvent("wait", "older.event", { timeout: "1m" });
      return [first.timeout, eventData];
    });
    const { workflowRunId } = await client.trigger({ url });
    await eventually(
      () => client.notify({ eventId: "older.event", eventData: { told: true } }),
      isFilled,
    );

    expect(await ended).toEqual([true, { told: true }]);
    await inState(workflowRunId, "RUN_SUCCESS");
    expect(lengthsOf("/wait")).toEqual([1, 2, 3]);
  });

  it("is cancelled by itself and by its caller", async () => {
    const { url } = workflow("/cancel", async (context) => {
      await context.run("one", () => 1);
      if (context.requestPayload === "itself") await context.cancel();
      await context.sleep("long", "1h");
    });
    const itself = await client.trigger({ url, body: "itself" });
    const caller = await client.trigger({ url, body: "caller" });
    await inState(itself.workflowRunId, "RUN_CANCELED");
    await client.cancel({ ids: [caller.workflowRunId] });
    await inState(caller.workflowRunId, "RUN_CANCELED");
  });

  it("invokes another, whose end is the step's result, however it ends", async () => {
    const child = createWorkflow(
      async (context: WorkflowContext<{ n: number }>) => {
        const { n } = context.requestPayload;
        const twice = await context.run("twice", () => n * 2);
        if (n === 2) await context.cancel();
        if (n === 3) throw new WorkflowNonRetryableError("broken");
        return twice;
      },
      { disableTelemetry: true },
    );
    const ends: unknown[] = [];
    const parent = createWorkflow(
      async (context: WorkflowContext<undefined>) => {
        for (const n of [1, 2, 3])
          ends[n - 1] = await context.invoke(`child ${n}`, { workflow: child, body: { n } });
      },
      { disableTelemetry: true },
    );
    const many = await listening(serveMany({ child, parent }, { qstashClient }));
    const { workflowRunId } = await client.trigger({ url: `${many.url}/parent` });
    await inState(workflowRunId, "RUN_SUCCESS");

    expect(ends).toEqual([
      { body: 2, isCanceled: false, isFailed: false },
      { isCanceled: true, isFailed: false },
      { isCanceled: false, isFailed: true },
    ]);
    const times = (wanted: string) => many.deliveries.filter(({ path }) => path === wanted).length;
    // A start and a delivery for each step. No failure function was named.
    expect([times("/many/parent"), times("/many/child")]).toEqual([4, 6]);
  });
});

describe("the endpoint of a workflow of 0.2", () => {
  it("sets the retries and the failure function of the step that failed", async () => {
    const failures: string[] = [];
    let attempts = 0;
    const { url } = workflow(
      "/fails",
      async (context) => {
        await context.run("one", () => 1);
        await context.run("fails", () => {
          attempts += 1;
          throw new Error("broken");
        });
      },
      {
        retries: 1,
        retryDelay: "100",
        failureFunction: ({ failResponse, failStatus }) => {
          failures.push(`${failStatus} ${failResponse}`);
        },
      },
    );
    const { workflowRunId } = await client.trigger({ url });
    const run = await inState(workflowRunId, "RUN_FAILED");
    await eventually(async () => failures, isFilled);

    expect(attempts).toBe(2);
    expect(failures).toEqual(["500 broken"]);
    expect(endpoint.deliveries("/fails").at(-1)?.headers).toMatchObject({
      "upstash-workflow-is-failure": "true",
      "upstash-workflow-failure-callback": "true",
    });
    expect(run?.dlqId).toBeDefined();
  });

  it("sets the failure function for the answer of a call", async () => {
    const failures: string[] = [];
    const { handler } = serve(
      async (context) => {
        await context.call("call", { url: third.url("/answered"), method: "GET" });
      },
      {
        ...{ qstashClient, disableTelemetry: true, retries: 1, retryDelay: "100" },
        failureFunction: ({ failResponse, failStatus }) => {
          failures.push(`${failStatus} ${failResponse}`);
        },
      },
    );
    const refusal = JSON.stringify({ error: "Error", message: "no answers here" });
    const url = endpoint.route("/answer", async (request) =>
      request.headers.has("upstash-workflow-callback")
        ? new Response(refusal, { status: 503 })
        : handler(request),
    );
    const { workflowRunId } = await client.trigger({ url });
    await inState(workflowRunId, "RUN_FAILED");
    await eventually(async () => failures, isFilled);

    expect(failures).toEqual(["503 no answers here"]);
    const asked = endpoint.deliveries("/answer").map(({ headers }) => headers);
    expect(asked.filter((each) => each["upstash-workflow-callback"])).toHaveLength(2);
  });

  it("sets the flow control: its steps run one after the other", async () => {
    let atOnce = 0;
    let most = 0;
    const step = async (): Promise<void> => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 20));
      atOnce -= 1;
    };
    const { url } = workflow(
      "/flow",
      async (context) => {
        await context.run("one", () => 1);
        await Promise.all(["a", "b", "c"].map((name) => context.run(name, step)));
      },
      { flowControl: { key: "older", parallelism: 1 } },
    );
    const { workflowRunId } = await client.trigger({ url });
    await inState(workflowRunId, "RUN_SUCCESS");

    expect(most).toBe(1);
  });
});
