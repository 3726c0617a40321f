/** Tests the steps of workflows with the npm package `@upstash/workflow`, unmodified, against the server. */
import { describe, expect, it } from "@jest/globals";
import { WorkflowNonRetryableError, WorkflowRetryAfterError } from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import { eventually, hasLength, isFilled } from "./client.ts";
import {
  type Context,
  client,
  endpoint,
  hasEnded,
  listening,
  logged,
  qstashClient,
  receiver,
  server,
  startBeforeTests,
  started,
  third,
  trigger,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

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

    const workflowRunId = await trigger({
      url,
      body: { name: "world" },
      headers: { "My-Header": "how are you" },
    });

    expect(await ended).toBe("hello world, how are you");
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

    const workflowRunId = await trigger({ url });

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

    await trigger({ url });

    expect(await ended).toBe("done");
    const [before = 0, after = 0] = times;
    expect(after - before).toBeGreaterThanOrEqual(1_000);
    expect(endpoint.deliveries("/sleep")).toHaveLength(4);
  });

  it("sleeps until a time, and is retried at the time that an error names", async () => {
    const until = Math.ceil(Date.now() / 1_000) + 1;
    let tries = 0;
    const { url, ended } = workflow("/until", async (context) => {
      await context.sleepUntil("until", until);
      return context.run("busy once", () => {
        tries += 1;
        if (tries === 1) throw new WorkflowRetryAfterError("busy", 1);
        return Date.now();
      });
    });

    await trigger({ url, retries: 1, retryDelay: "3600000" });

    expect(await ended).toBeGreaterThanOrEqual((until + 1) * 1_000);
    expect(endpoint.deliveries("/until").map(({ length }) => length)).toEqual([1, 2, 2, 3]);
  });

  it("retries a step that fails, with the same history", async () => {
    let tries = 0;
    const { url, ended } = workflow("/retried", async (context) =>
      context.run("fails once", () => {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
        return tries;
      }),
    );

    await trigger({ url, retryDelay: "10" });

    expect(await ended).toBe(2);
    const deliveries = endpoint.deliveries("/retried");
    expect(deliveries.map(({ length }) => length)).toEqual([1, 1, 2]);
    expect(deliveries.map(({ headers }) => headers["upstash-retried"])).toEqual(["0", "1", "0"]);
  });

  it("has its deliveries one after another when its flow control says so", async () => {
    let atOnce = 0;
    let most = 0;
    const step = async (): Promise<void> => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 20));
      atOnce -= 1;
    };
    const { url, ended } = workflow("/flow", async (context) => {
      await Promise.all(["a", "b", "c"].map((name) => context.run(name, step)));
    });

    await trigger({ url, flowControl: { key: "flow", parallelism: 1 } });

    await ended;
    expect(most).toBe(1);
    expect(endpoint.deliveries("/flow")).toHaveLength(7);
  });

  it("that names an active run starts none, and the same name is free when that run has ended", async () => {
    const { url, ended } = workflow("/named", async (context) => {
      await context.waitForEvent("both triggered", "one-name is active");
      return "done";
    });
    const workflowRunId = "one-name";
    const end = async () => {
      await client.notify({ eventId: "one-name is active", workflowRunId: "wfr_one-name" });
      await hasEnded("wfr_one-name");
    };

    await trigger({ url, workflowRunId });
    await trigger({ url, workflowRunId });
    await end();
    expect(await ended).toBe("done");
    expect(endpoint.deliveries("/named")).toHaveLength(2);

    await trigger({ url, workflowRunId });
    await end();
    expect(endpoint.deliveries("/named")).toHaveLength(4);
  });

  it("starts itself when its endpoint is called directly", async () => {
    const { url, ended } = workflow<{ n: number }, number>("/direct", async (context) =>
      context.run("add", () => context.requestPayload.n + 1),
    );

    await qstashClient.publishJSON({ url, body: { n: 1 } });

    expect(await ended).toBe(2);
    started.push(String(endpoint.deliveries("/direct")[1]?.headers["upstash-workflow-runid"]));
    expect(endpoint.deliveries("/direct").map(({ length }) => length)).toEqual([0, 1, 2]);
  });

  it("is delivered as often as its steps say, behind express and as a handler of fetch requests alike", async () => {
    third.answers("/counted", (_, response) => response.end("called"));
    const tried = new Set<string>();
    const route = async (context: Context<undefined>) => {
      const { workflowRunId: id } = context;
      await context.run("first", () => 1);
      await Promise.all([context.run("a", () => 1), context.run("b", () => 2)]);
      await context.sleep("nap", 1);
      await context.waitForEvent("told", `counted ${id}`);
      await context.call("call", { url: third.url("/counted"), method: "POST" });
      await context.run("fails once", () => {
        if (tried.has(id)) return;
        tried.add(id);
        throw new Error("not yet");
      });
    };
    const { url } = workflow("/counted", route);
    const counted = createWorkflow(route, { disableTelemetry: true });
    const many = await listening(serveMany({ counted }, { qstashClient, receiver }));
    const urls = [url, `${many.url}/counted`];

    const run = async (each: string) => {
      const { workflowRunId } = await client.trigger({ url: each, retries: 1, retryDelay: "10" });
      await eventually(() => client.notify({ eventId: `counted ${workflowRunId}` }), hasLength(1));
      await hasEnded(workflowRunId);
      expect((await logged(workflowRunId))?.workflowState).toBe("RUN_SUCCESS");
    };
    await Promise.all(urls.map(run));

    // The answer of the call, which is no history; the start, a step, a group of two, a sleep, an event; the call's result,
    // whose delivery fails once; the last step.
    const expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10];
    for (const seen of [endpoint.deliveries("/counted"), many.deliveries])
      expect(seen.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual(expected);
    expect(third.at("/counted")).toHaveLength(2);
  });

  it("is triggered by a plain request, and its failure function is called without being named", async () => {
    const failures: string[] = [];
    const { url } = workflow(
      "/triggered",
      async (context) => {
        await context.run("fails", () => {
          throw new WorkflowNonRetryableError(`no ${String(context.requestPayload)}`);
        });
      },
      {
        failureFunction: async ({ failResponse, failStatus }) =>
          void failures.push(`${failStatus} ${failResponse}`),
      },
    );

    const reply = await server.client.postJson(`/v2/trigger/${url}`, "luck");

    expect(reply.status).toBe(200);
    const { workflowRunId, workflowCreatedAt } = reply.object();
    started.push(String(workflowRunId));
    expect(workflowRunId).toMatch(/^wfr_/);
    expect(workflowCreatedAt).toBeGreaterThan(0);
    await eventually(async () => failures, isFilled);
    expect(failures).toEqual(["489 no luck"]);
    expect(endpoint.deliveries("/triggered")).toHaveLength(2);
  });

  it("uses the Service- dialect alone when it is started in it", async () => {
    const arrivals: Record<string, unknown>[] = [];
    third.answers("/plain", ({ headers, body }, response) => {
      arrivals.push({ headers, entries: JSON.parse(body.toString()) });
      response.setHeader("Service-Workflow-Sdk-Version", "1");
      response.setHeader("Service-Workflow-Sdk", "v1.3.3").end();
    });
    const { client: plain } = server;
    const reply = await plain.post(
      `/v2/trigger/${third.url("/plain")}`,
      { "Service-Workflow-RunId": "plain", "Service-Label": "mine", "Service-Forward-A": "b" },
      "payload",
    );
    expect(reply.object()).toMatchObject({ workflowRunId: "plain" });
    await third.arrivals("/plain");

    const step = { stepId: 1, stepName: "one", stepType: "Run", out: "1", concurrent: 1 };
    const ofRun = { "Service-Workflow-RunId": "plain", "Service-Workflow-Init": "false" };
    const publishing = () => plain.publish(third.url("/plain"), ofRun, JSON.stringify(step));
    const first = await publishing();
    const again = await publishing();
    await third.arrivals("/plain", 2);
    await plain.delete("/v2/workflows/runs/plain?cancel=false", '"end"');

    expect(again.object()).toMatchObject({ ...first.object(), deduplicated: true });
    expect(arrivals.map(({ headers }) => headers)).toMatchObject([
      { "service-workflow-runid": "plain", "service-label": "mine", a: "b" },
      { "service-workflow-runid": "plain", "service-label": "mine", a: "b" },
    ]);
    expect(arrivals.map(({ entries }) => entries)).toMatchObject([
      [{ body: Buffer.from("payload").toString("base64"), callType: "step" }],
      [{}, { messageId: first.object()["messageId"], callType: "step" }],
    ]);
    const late = await publishing();
    expect(late.status).toBe(400);
    expect(late.error()).toContain("can not append to a a cancelled workflow");
  });
});
