/** Tests workflows of the npm package `@upstash/workflow`, unmodified, against the server. */
import { afterEach, describe, expect, it } from "@jest/globals";
import {
  WorkflowNonRetryableError,
  WorkflowRetryAfterError,
  type TriggerOptions,
} from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import express from "express";
import { once } from "node:events";
import { type AddressInfo } from "node:net";
import { eventually } from "./client.ts";
import {
  type Context,
  client,
  endpoint,
  qstashClient,
  receiver,
  server,
  startBeforeTests,
  third,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

/** Waits for the end of a run, whichever way it ends: its history is then no longer served. */
const hasEnded = (id: string) =>
  eventually(
    async () => (await server.client.get(`/v2/workflows/runs/${id}`)).status,
    (status) => status === 404,
  );

const started: string[] = [];
const trigger = async (options: TriggerOptions): Promise<string> => {
  const { workflowRunId } = await client.trigger(options);
  started.push(workflowRunId);
  return workflowRunId;
};
// An endpoint reports the end to the server after its route has returned.
afterEach(async () => {
  for (const id of started.splice(0)) await hasEnded(id);
});

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

  it("fails when its retries are used, and its failure function receives the reason, once", async () => {
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

    const workflowRunId = await trigger({
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

  it("that names an active run starts none, and the same name is free when that run has ended", async () => {
    const { url, ended } = workflow("/named", async (context) => {
      await context.sleep("a second", 1);
      return "done";
    });

    await trigger({ url, workflowRunId: "one-name" });
    await trigger({ url, workflowRunId: "one-name" });
    expect(await ended).toBe("done");
    await hasEnded("wfr_one-name");
    expect(endpoint.deliveries("/named")).toHaveLength(2);

    await trigger({ url, workflowRunId: "one-name" });
    await hasEnded("wfr_one-name");
    expect(endpoint.deliveries("/named")).toHaveLength(4);
  });

  it("that is cancelled gets no more deliveries, and a second cancel counts none", async () => {
    const { url } = workflow("/cancelled", async (context) => {
      await context.sleep("two seconds", 2);
      await context.run("never", () => 1);
    });
    const workflowRunId = await trigger({ url });
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

  it("starts itself when its endpoint is called directly", async () => {
    const { url, ended } = workflow<{ n: number }, number>("/direct", async (context) =>
      context.run("add", () => context.requestPayload.n + 1),
    );

    await qstashClient.publishJSON({ url, body: { n: 1 } });

    expect(await ended).toBe(2);
    started.push(String(endpoint.deliveries("/direct")[1]?.headers["upstash-workflow-runid"]));
    expect(endpoint.deliveries("/direct").map(({ length }) => length)).toEqual([0, 1, 2]);
  });

  it("calls a third party, which sees nothing of the run: two deliveries at the endpoint", async () => {
    third.answers("/api", ({ body }, response) =>
      response
        .writeHead(201, { "Content-Type": "application/json", "X-Third": "party" })
        .end(JSON.stringify({ got: body.toString() })),
    );
    const { url, ended } = workflow("/calling", async (context) => {
      const { status, body, header } = await context.call("call", {
        url: third.url("/api"),
        method: "POST",
        body: JSON.stringify({ a: 1 }),
        headers: { "My-Header": "hello" },
      });
      return { status, body, header: header["X-Third"] };
    });

    const workflowRunId = await trigger({ url, headers: { Secret: "of the run" } });

    expect(await ended).toEqual({ status: 201, body: { got: '{"a":1}' }, header: ["party"] });
    await hasEnded(workflowRunId);
    const [called, ...more] = third.at("/api");
    expect(more).toEqual([]);
    expect(called?.headers).toMatchObject({ "my-header": "hello" });
    expect(called?.headers).not.toHaveProperty("secret");
    expect(Object.keys(called?.headers ?? {}).filter((name) => name.includes("workflow"))).toEqual(
      [],
    );
    expect(endpoint.deliveries("/calling").map(({ length }) => length)).toEqual([1, 0, 2]);
  });

  it("receives the last answer of a call that fails, and continues", async () => {
    third.answers("/down", (_, response) => response.writeHead(503).end("down"));
    const { url, ended } = workflow("/calling-down", async (context) => {
      const [one, { status, body }] = await Promise.all([
        context.run("beside", () => 1),
        context.call<string>("call", { url: third.url("/down"), retries: 1, retryDelay: "10" }),
      ]);
      return { one, status, body };
    });

    await trigger({ url });

    expect(await ended).toEqual({ one: 1, status: 503, body: "down" });
    expect(third.at("/down")).toHaveLength(2);
  });

  it("repeats a call whose answer breaks off in its body, and receives no half result", async () => {
    const large = "x".repeat(100_000);
    third.answers("/breaking", (_, response, nth) => {
      if (nth === 2) return void response.end("whole");
      // Cut by its length first, then by its chunks: the connection ends before the body does.
      response.writeHead(200, nth === 0 ? { "Content-Length": String(2 * large.length) } : {});
      response.write(large, () => response.destroy());
    });
    third.answers("/broken", (_, response) =>
      response.writeHead(200).write("{", () => response.destroy()),
    );
    const { url, ended } = workflow("/calling-breaking", async (context) => {
      const settings = { retryDelay: "10" };
      const [whole, none] = await Promise.all([
        context.call<string>("whole", { url: third.url("/breaking"), retries: 2, ...settings }),
        context.call<string>("none", { url: third.url("/broken"), retries: 1, ...settings }),
      ]);
      return { whole: [whole.status, whole.body], none: [none.status, none.body] };
    });

    await trigger({ url });

    expect(await ended).toEqual({
      whole: [200, "whole"],
      none: [0, "the answer, of status 200, was cut off after 1 bytes"],
    });
    expect(third.at("/breaking")).toHaveLength(3);
    expect(third.at("/broken")).toHaveLength(2);
  });

  it("waits for an event, and the notifier learns which run it woke", async () => {
    const { url, ended } = workflow("/waiting", async (context) => {
      const { eventData, timeout } = await context.waitForEvent<{ ok: boolean }>(
        "wait",
        "approved",
        {
          timeout: "1m",
        },
      );
      return { eventData, timeout };
    });

    const workflowRunId = await trigger({ url });
    const waiters = await eventually(
      () => client.getWaiters({ eventId: "approved" }),
      ({ length }) => length > 0,
    );
    expect(waiters).toMatchObject([
      { url, headers: { "Upstash-Workflow-Runid": [workflowRunId] } },
    ]);
    const notified = await client.notify({ eventId: "approved", eventData: { ok: true } });

    expect(notified).toMatchObject([{ workflowRunId, waiter: { url } }]);
    expect(await ended).toEqual({ eventData: { ok: true }, timeout: false });
    expect(await client.notify({ eventId: "approved" })).toEqual([]);
    expect(endpoint.deliveries("/waiting").map(({ length }) => length)).toEqual([1, 2]);
  });

  it.each(["50%", "50% of it/all?"])(
    "waits for an event whose name has characters that a URL must escape: %s",
    async (event) => {
      const path = `/waiting-for-${event.length}`;
      const { url, ended } = workflow(path, async (context) => {
        const { eventData } = await context.waitForEvent("wait", event, { timeout: "1m" });
        return eventData;
      });
      const other = workflow(`${path}/teller`, async (context) => {
        await context.notify("tell", event, "hello");
      });

      await trigger({ url });
      await eventually(
        () => client.getWaiters({ eventId: event }),
        ({ length }) => length > 0,
      );
      await trigger({ url: other.url });

      expect(await ended).toBe("hello");
      await other.ended;
      expect(endpoint.deliveries(path).map(({ length }) => length)).toEqual([1, 2]);
      expect(endpoint.deliveries(`${path}/teller`).map(({ length }) => length)).toEqual([1, 2]);
    },
  );

  it("continues when the time of its wait is over", async () => {
    const { url, ended } = workflow("/timed-out", async (context) => {
      const [waited, other] = await Promise.all([
        context.waitForEvent("wait", "never", { timeout: "1s" }),
        context.run("beside", () => 1),
      ]);
      return { waited, other };
    });

    await trigger({ url });

    expect(await ended).toEqual({ waited: { eventData: undefined, timeout: true }, other: 1 });
  });

  it("takes events that came before its wait, in their order", async () => {
    const { url, ended } = workflow("/looking-back", async (context) => {
      await context.sleep("a second", 1);
      const first = await context.waitForEvent("first", "early", { timeout: "1m" });
      const second = await context.waitForEvent("second", "early", { timeout: "1m" });
      return [first.eventData, second.eventData];
    });

    const workflowRunId = await trigger({ url });
    for (const n of [1, 2])
      expect(await client.notify({ eventId: "early", eventData: n, workflowRunId })).toEqual([]);

    expect(await ended).toEqual([1, 2]);
  });

  it("makes a webhook, which anyone may call, and receives the request", async () => {
    const { url, ended } = workflow("/webhook", async (context) => {
      const webhook = await context.createWebhook("make");
      await context.call("tell", {
        url: third.url("/told"),
        method: "POST",
        body: webhook.webhookUrl,
      });
      const { request } = await context.waitForWebhook("wait", webhook, "1m");
      return { method: request?.method, body: await request?.text(), url: request?.url };
    });

    await trigger({ url });
    const [told] = await third.arrivals("/told");
    const webhookUrl = String(told?.body);
    const called = await fetch(`${webhookUrl}?a=1`, { method: "PUT", body: "hello" });

    expect(called.status).toBe(200);
    expect(await ended).toEqual({ method: "PUT", body: "hello", url: `${webhookUrl}?a=1` });
    const again = await eventually(
      () => fetch(webhookUrl, { method: "POST" }),
      ({ status }) => status === 404,
    );
    expect(again.status).toBe(404);
  });

  it("is notified by another inside a step", async () => {
    const { url, ended } = workflow("/notified", async (context) => {
      const { eventData } = await context.waitForEvent("wait", "from another", { timeout: "1m" });
      return eventData;
    });
    const other = workflow("/notifying", async (context) => {
      const { notifyResponse } = await context.notify("tell", "from another", "hello");
      return notifyResponse.length;
    });

    await trigger({ url });
    await eventually(
      () => client.getWaiters({ eventId: "from another" }),
      ({ length }) => length > 0,
    );
    await trigger({ url: other.url });

    expect(await ended).toBe("hello");
    expect(await other.ended).toBe(1);
  });

  it("invokes another, whose end is the step's result, however it ends", async () => {
    const ofChild: string[] = [];
    const child = createWorkflow(
      async (context: Context<{ n: number }>) => {
        const { n } = context.requestPayload;
        ofChild.push(context.workflowRunId);
        const double = await context.run("double", () => n * 2);
        if (n === 2) await context.cancel();
        if (n === 3) throw new WorkflowNonRetryableError("broken");
        return { double };
      },
      { disableTelemetry: true },
    );
    const ends: unknown[] = [];
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const parent = createWorkflow(
      async (context: Context<undefined>) => {
        for (const n of [1, 2, 3]) {
          const end = await context.invoke(`child ${n}`, { workflow: child, body: { n } });
          ends[n - 1] = end;
        }
        resolve();
      },
      { disableTelemetry: true },
    );
    const delivered: string[] = [];
    const app = express().use(express.json());
    app.use(({ path }, _, next) => {
      delivered.push(path);
      next();
    });
    app.use("/many", serveMany({ child, parent }, { qstashClient, receiver }));
    const listener = app.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/many/parent`;

    await trigger({ url });
    await ended;

    expect(ends).toEqual([
      { body: { double: 2 }, isCanceled: false, isFailed: false },
      { isCanceled: true, isFailed: false },
      { isCanceled: false, isFailed: true },
    ]);
    expect(new Set(ofChild).size).toBe(3);
    for (const id of started.splice(0)) await hasEnded(id);
    const times = (path: string) => delivered.filter((each) => each === path).length;
    // A start and a delivery for each step, and one for the failure function.
    await eventually(
      () => Promise.resolve(times("/many/child")),
      (count) => count >= 7,
    );
    expect([times("/many/parent"), times("/many/child")]).toEqual([4, 7]);
    listener.closeAllConnections();
    listener.close();
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
    const lengths: number[] = [];
    const app = express().use(express.json());
    app.use(({ body }, _, next) => {
      lengths.push(Array.isArray(body) ? body.length : 0);
      next();
    });
    app.use("/many", serveMany({ counted }, { qstashClient, receiver }));
    const listener = app.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const urls = [url, `http://127.0.0.1:${port}/many/counted`];

    const run = async (each: string) => {
      const { workflowRunId } = await client.trigger({ url: each, retries: 1, retryDelay: "10" });
      await eventually(
        () => client.notify({ eventId: `counted ${workflowRunId}` }),
        (told) => told.length === 1,
      );
      await hasEnded(workflowRunId);
      const { runs } = await client.logs({ workflowRunId });
      expect(runs[0]?.workflowState).toBe("RUN_SUCCESS");
    };
    await Promise.all(urls.map(run));

    // The answer of the call, which is no history; the start, a step, a group of two, a sleep, an event; the call's result,
    // whose delivery fails once; the last step.
    const expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10];
    const ofHandler = endpoint.deliveries("/counted").map(({ length }) => length);
    for (const seen of [ofHandler, lengths])
      expect(seen.toSorted((a, b) => a - b)).toEqual(expected);
    expect(third.at("/counted")).toHaveLength(2);
    listener.closeAllConnections();
    listener.close();
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

    const reply = await server.client.post(`/v2/trigger/${url}`, {}, JSON.stringify("luck"));

    expect(reply.status).toBe(200);
    const { workflowRunId, workflowCreatedAt } = reply.object();
    started.push(String(workflowRunId));
    expect(workflowRunId).toMatch(/^wfr_/);
    expect(workflowCreatedAt).toBeGreaterThan(0);
    await eventually(
      async () => failures,
      ({ length }) => length > 0,
    );
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

  it("whose endpoint answers without being a workflow fails at once", async () => {
    third.answers("/no-workflow", (_, response) => response.end("hello"));
    const id = await trigger({ url: third.url("/no-workflow"), retries: 3 });
    await hasEnded(id);
    const { text } = await server.client.get(`/v2/workflows/logs?workflowRunId=${id}`);

    expect(text).toContain("detected a non-workflow destination");
    // The delivery to its failure function arrives, too.
    await eventually(
      async () => third.at("/no-workflow").length,
      (count) => count === 2,
    );
    expect(
      third.at("/no-workflow").map(({ headers }) => headers["upstash-workflow-is-failure"]),
    ).toEqual([undefined, "true"]);
    third.answers("/no-workflow/asked", (_, response) => response.end("hello"));
    const reply = await server.client.post(`/v2/trigger/${third.url("/no-workflow/asked")}`, {
      "Upstash-Failure-Callback": third.url("/told"),
    });
    const asked = String(reply.object()["workflowRunId"]);
    await hasEnded(asked);
    const log = await server.client.get(`/v2/workflows/logs?workflowRunId=${asked}`);
    expect(log.text).toContain("trigger rest api is only usable with sdk versions after v1.0.0");
    expect(third.at("/no-workflow/asked")).toHaveLength(1);
  });

  it("started by a plain request fails at once when an SDK before 1.0 answers", async () => {
    third.answers("/before-1", (_, response) =>
      response.setHeader("Upstash-Workflow-Sdk-Version", "1").end("{}"),
    );
    const reply = await server.client.post(`/v2/trigger/${third.url("/before-1")}`, {
      "Upstash-Failure-Callback": third.url("/told"),
    });
    const id = String(reply.object()["workflowRunId"]);

    await hasEnded(id);
    const log = await server.client.get(`/v2/workflows/logs?workflowRunId=${id}`);

    expect(log.text).toContain("trigger rest api is only usable with sdk versions after v1.0.0");
    expect(third.at("/before-1")).toHaveLength(1);
  });

  it("that has failed is restarted with its payload and the changes of the restart", async () => {
    let isBroken = true;
    const { url, ended } = workflow<{ n: number }, string>("/restarted", async (context) =>
      context.run("step", () => {
        if (isBroken) throw new WorkflowNonRetryableError("broken");
        return `${context.requestPayload.n} ${context.label ?? ""}`;
      }),
    );
    const failed = third.url("/failed");
    const { client: plain } = server;
    await plain.post(
      `/v2/trigger/${url}`,
      { "Upstash-Failure-Callback": failed },
      JSON.stringify({ n: 7 }),
    );
    const [told] = await third.arrivals("/failed");
    const { dlqId } = JSON.parse(String(told?.body)) as { dlqId: string };
    isBroken = false;

    const reply = await plain.post(`/v2/workflows/dlq/restart/${dlqId}`, {
      "Upstash-Workflow-RunId": "again",
      "Upstash-Label": "second",
    });

    expect(reply.object()).toMatchObject({ workflowRunId: "again" });
    started.push("again");
    expect(await ended).toBe("7 second");
    const unknown = await plain.post(`/v2/dlq/restart/${dlqId}x`);
    expect(unknown.status).toBe(404);
    const several = await plain.post(`/v2/workflows/dlq/restart?dlqIds=${dlqId},${dlqId}x`);
    expect(several.object()).toMatchObject({ workflowRuns: [{}] });
  });

  it("is cancelled by filters: active runs that match, and at most the requested number", async () => {
    const { url } = workflow("/many/by-filter", async (context) => {
      await context.waitForEvent("wait", "never comes", { timeout: "1h" });
    });
    for (const label of ["red", "red", "blue", "green"]) await trigger({ url, label });

    expect(await client.cancel({ filter: { label: "red" } })).toEqual({ cancelled: 2 });
    expect(await client.cancel({ filter: { label: "red" } })).toEqual({ cancelled: 0 });
    expect(await client.cancel({ urlStartingWith: url.slice(0, -3) })).toEqual({ cancelled: 2 });
    for (const label of ["host", "path", "other"]) await trigger({ url, label });
    const { host, pathname } = new URL(url);
    const filter = { host, path: pathname };
    expect(await client.cancel({ filter: { ...filter, label: "host" } })).toEqual({ cancelled: 1 });
    expect(await client.cancel({ filter: { ...filter, path: "/no" } })).toEqual({ cancelled: 0 });
    expect(await client.cancel({ filter, count: 1 })).toEqual({ cancelled: 1 });
    const named = JSON.stringify({ workflowRunIds: [await trigger({ url })] });
    const ofUrl = JSON.stringify({ workflowUrl: url.slice(0, -3) });
    for (const body of [named, ofUrl])
      expect((await server.client.delete("/v2/workflows/runs", body)).object()).toEqual({
        cancelled: 1,
      });
    await trigger({ url });
    const all = await server.client.delete("/v2/workflows/runs", "{}");
    expect(all.object()["cancelled"]).toBeGreaterThan(0);
    expect((await server.client.delete("/v2/workflows/runs", "{}")).object()).toEqual({
      cancelled: 0,
    });
    const refused = await server.client.delete("/v2/workflows/runs?colour=red");
    expect(refused.status).toBe(400);
    expect(refused.error()).toContain("colour");
    expect((await server.client.delete("/v2/workflows/runs")).status).toBe(400);
  });
});
