/** Tests workflows that call others and wait for them, with the npm package `@upstash/workflow`, unmodified, against the server. */
import { describe, expect, it } from "@jest/globals";
import { WorkflowNonRetryableError } from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import { eventually, isFilled } from "./client.ts";
import {
  type Context,
  client,
  endpoint,
  hasEnded,
  listening,
  qstashClient,
  receiver,
  startBeforeTests,
  started,
  third,
  trigger,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

describe("a workflow", () => {
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
    const waiters = await eventually(() => client.getWaiters({ eventId: "approved" }), isFilled);
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
      await eventually(() => client.getWaiters({ eventId: event }), isFilled);
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
      ({ status }) => status !== 200,
    );
    // 429 where other suites have guessed ten addresses.
    expect([404, 429]).toContain(again.status);
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
    await eventually(() => client.getWaiters({ eventId: "from another" }), isFilled);
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
    const many = await listening(serveMany({ child, parent }, { qstashClient, receiver }));

    await trigger({ url: `${many.url}/parent` });
    await ended;

    expect(ends).toEqual([
      { body: { double: 2 }, isCanceled: false, isFailed: false },
      { isCanceled: true, isFailed: false },
      { isCanceled: false, isFailed: true },
    ]);
    expect(new Set(ofChild).size).toBe(3);
    for (const id of started.splice(0)) await hasEnded(id);
    const times = (wanted: string) => many.deliveries.filter(({ path }) => path === wanted).length;
    // A start and a delivery for each step, and one for the failure function.
    await eventually(
      () => Promise.resolve(times("/many/child")),
      (count) => count >= 7,
    );
    expect([times("/many/parent"), times("/many/child")]).toEqual([4, 7]);
  });
});
