/** Tests a run by plain HTTP: its endpoint and its callers have no SDK, and use `Service-` headers only. */
import { type ServerResponse } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { eventually, type Reply, hasStatus, hasLength, isFilled } from "./client.ts";
import { type Arrival } from "./destination.ts";
import {
  ofRun,
  type Entry,
  entriesIn,
  taken,
  Endpoint,
  isAnswer,
  logged,
  inState,
  rowsOf,
  notified,
} from "./plain-endpoint.ts";
import { destination, server, startBeforeTests } from "./suite.ts";
import { type Json, objectOf } from "./json.ts";

startBeforeTests();

describe("a run by plain HTTP", () => {
  it("goes through every kind of step, fails, reports its failure, and is resumed and restarted", async () => {
    const endpoint = new Endpoint("/order");
    const { client } = server;
    const settings = {
      "Service-Workflow-RunId": "order-1",
      "Service-Retries": "0",
      "Service-Label": "orders",
      "Service-Forward-X-Shop": "7",
      "Service-Flow-Control-Key": "orders",
      "Service-Flow-Control-Value": "parallelism=10, rate=100, period=1m",
    };
    const start = await client.post(`/v2/trigger/${endpoint.url}`, settings, "payload");
    const { workflowCreatedAt } = start.object();
    expect(start.object()).toEqual({
      workflowRunId: "order-1",
      workflowCreatedAt: expect.any(Number),
    });

    const waiting = await eventually(
      () => logged("order-1"),
      (run) => rowsOf(run).some(({ waitEventId }) => waitEventId !== undefined),
    );
    expect(waiting).toMatchObject({
      ...{ workflowRunId: "order-1", workflowUrl: endpoint.url, workflowState: "RUN_STARTED" },
      ...{ workflowRunCreatedAt: workflowCreatedAt, workflowRunCallerIp: "127.0.0.1" },
      ...{ label: "orders", flowControlKey: "orders" },
    });
    expect(rowsOf(waiting).at(-1)).toMatchObject({
      ...{ type: "sequential", stepId: 5, stepName: "picked up", state: "STEP_PROGRESS" },
      ...{ waitEventId: "picked:order", waitTimeoutDuration: "5400s" },
    });
    const told = await notified("order");
    expect(told).toMatchObject({
      ...{ workflowRunId: "order-1", workflowCreatedAt, messageId: expect.any(String) },
      waiter: { url: endpoint.url, headers: expect.any(Object), deadline: expect.any(Number) },
    });

    const failed = await inState("order-1", "RUN_FAILED");
    const rows = rowsOf(failed);
    expect(rows).toMatchObject([
      { type: "sequential", stepName: "init", out: "payload", headers: { "X-Shop": ["7"] } },
      { type: "parallel", stepId: 1, stepName: "pay", out: "1", state: "STEP_SUCCESS" },
      { type: "parallel", stepId: 2, stepName: "label", out: "1", state: "STEP_SUCCESS" },
      { type: "sequential", stepId: 3, stepName: "settle", sleepFor: 1, state: "STEP_SUCCESS" },
      {
        ...{ type: "sequential", stepId: 4, stepName: "tell", stepType: "Call" },
        ...{ callUrl: `${endpoint.url}/third`, callMethod: "PUT", callBody: "asked" },
        ...{ callHeaders: { "X-Mine": ["a"] }, callResponseStatus: 202 },
        ...{ callResponseBody: "called", state: "STEP_SUCCESS" },
      },
      {
        ...{ type: "sequential", stepId: 5, waitEventId: "picked:order", waitTimeout: false },
        ...{ out: Buffer.from('{"by":"me"}').toString("base64"), state: "STEP_SUCCESS" },
      },
      { type: "next", stepName: "ship", state: "STEP_FAILED", errors: [{ status: 500 }] },
    ]);
    expect(failed).toMatchObject({
      workflowRunCompletedAt: expect.any(Number),
      dlqId: expect.any(String),
      failureFunction: { url: endpoint.url, failStatus: 500, failResponse: "{}" },
    });
    await eventually(async () => endpoint.told, hasLength(1));
    const dlqId = String(failed?.["dlqId"]);
    expect(endpoint.told).toMatchObject([
      {
        ...{ dlqId, status: 500, url: endpoint.url, workflowRunId: "order-1", workflowCreatedAt },
        sourceBody: Buffer.from("payload").toString("base64"),
      },
    ]);
    expect(endpoint.deliveries("order-1").toSorted()).toEqual(
      [0, 1, 2, 3, 4, 5, "answer", 6, 7, "failure"].toSorted(),
    );

    const letters = await eventually(
      () => client.get("/v2/workflows/dlq?failureFunctionState=CALLBACK_SUCCESS&label=orders"),
      (reply) => reply.list("messages").length === 1,
    );
    expect(letters.object()).toMatchObject({
      cursor: "",
      messages: [
        {
          ...{ dlqId, workflowUrl: endpoint.url, workflowRunId: "order-1", workflowCreatedAt },
          ...{ url: endpoint.url, method: "POST", header: { "X-Shop": ["7"] }, body: "payload" },
          ...{ maxRetries: 0, createdAt: workflowCreatedAt, callerIP: "127.0.0.1" },
          ...{ failureCallback: endpoint.url, label: "orders", flowControlKey: "orders" },
          ...{ failureFunctionState: "CALLBACK_SUCCESS", responseStatus: 500, responseBody: "{}" },
          responseHeader: { "Service-Error-Step-Name": ["ship"] },
        },
      ],
    });

    endpoint.isBroken = false;
    const named = (id: string) => ({ "Service-Workflow-RunId": id });
    const resumed = await client.post(`/v2/workflows/dlq/resume/${dlqId}`, named("order-2"));
    expect(resumed.object()).toEqual({
      workflowRunId: "order-2",
      workflowCreatedAt: expect.any(Number),
    });
    const whole = await inState("order-2", "RUN_SUCCESS");
    expect(whole).toMatchObject({ workflowRunResponse: '"done"' });
    const done = ({ messageId: _, ...row }: Json): Json => row;
    // For finished steps the log repeats everything of the failed run's log.
    expect(rowsOf(whole).slice(1, 6).map(done)).toEqual(rows.slice(1, 6).map(done));
    expect(rowsOf(whole).slice(6)).toMatchObject([{ stepId: 6, out: '"shipped"' }]);
    expect(endpoint.deliveries("order-2")).toEqual([7, 8]);

    const restarted = await client.post(`/v2/dlq/restart/${dlqId}`, named("order-3"));
    expect(restarted.object()).toMatchObject({ workflowRunId: "order-3" });
    expect(await notified("order")).toMatchObject({ workflowRunId: "order-3" });
    expect(await inState("order-3", "RUN_SUCCESS")).toMatchObject({ label: "orders" });
    expect(endpoint.deliveries("order-3").toSorted()).toEqual(
      [0, 1, 2, 3, 4, 5, "answer", 6, 7, 8].toSorted(),
    );
    expect((await client.get(`/v2/workflows/dlq/${dlqId}`)).status).toBe(200);
  });
});

describe("a successful answer without the mark of a workflow", () => {
  const mark = { "Service-Workflow-Sdk-Version": "1", "Service-Workflow-Sdk": "v1.3.3" };
  const retries = { "Service-Retries": "1", "Service-Retry-Delay": "1" };

  /** Steps 1 and 2 run in parallel, then the run ends. While set, `page` answers the deliveries of that part. */
  class Small {
    page: ((response: ServerResponse) => void) | undefined;
    readonly told: Json[] = [];
    readonly url: string;

    constructor(path: string, marks: boolean, pageOf: (entries: readonly Entry[]) => boolean) {
      this.url = destination.url(path);
      destination.answers(path, (arrival, response) => {
        if (arrival.headers["service-workflow-is-failure"]) {
          this.told.push(objectOf(JSON.parse(arrival.body.toString())));
          return void response.end();
        }
        if (this.page && !isAnswer(arrival) && pageOf(entriesIn(arrival)))
          return this.page(response);
        if (this.page && isAnswer(arrival) && pageOf([])) return this.page(response);
        this.#take(arrival).then(
          () => response.writeHead(200, marks ? mark : {}).end(),
          (error: unknown) => response.writeHead(500).end(String(error)),
        );
      });
    }

    async #take(arrival: Arrival): Promise<void> {
      const run = String(arrival.headers["service-workflow-runid"]);
      const { client } = server;
      const entries = isAnswer(arrival) ? [] : entriesIn(arrival);
      const step = (json: object) => ({
        destination: this.url,
        headers: { ...ofRun(run), ...retries },
        body: JSON.stringify(json),
      });
      const batch = (...items: readonly object[]) => taken(client.postJson("/v2/batch", items));
      if (isAnswer(arrival)) await batch(step({ stepId: 1, out: "1" }));
      else if (entries.length === 0 && run.startsWith("call")) {
        const call = {
          ...ofRun(run),
          "Service-Workflow-CallType": "toCallback",
          "Service-Callback": this.url,
          "Service-Callback-Forward-Service-Workflow-Callback": "true",
          "Service-Callback-Forward-Service-Workflow-StepId": "1",
          "Service-Callback-Forward-Service-Workflow-StepName": "call",
        };
        await taken(client.publish(destination.url("/unmarked"), call));
      } else if (entries.length === 0)
        await batch(...[1, 2].map((targetStep) => step({ stepId: 0, targetStep, concurrent: 2 })));
      else if (entries.at(-1)?.targetStep !== undefined)
        await batch(step({ stepId: entries.at(-1)?.targetStep, concurrent: 2, out: "1" }));
      else if (entries.length === 4 || run.startsWith("call"))
        await taken(client.delete(`/v2/workflows/runs/${run}?cancel=false`));
    }
  }

  const pages: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["a page", (response) => response.setHeader("content-type", "text/html").end("<p>back soon")],
    ["nothing", (response) => response.end()],
    ["204", (response) => response.writeHead(204).end()],
    ["a foreign version", (response) => response.writeHead(200, versionOf("Service", "2")).end()],
    ["another dialect", (response) => response.writeHead(200, versionOf("Upstash", "1")).end()],
  ];
  const versionOf = (family: string, version: string) => ({
    [`${family}-Workflow-Sdk-Version`]: version,
  });

  it.each(pages)("fails a run whose start a workflow has answered: %s", async (name, page) => {
    const id = `page-${name.replaceAll(" ", "-")}`;
    const endpoint = new Small(`/${id}`, true, (entries) => entries.length === 4);
    endpoint.page = page;
    const { client } = server;
    await client.post(`/v2/trigger/${endpoint.url}`, {
      ...{ ...retries, "Service-Workflow-RunId": id },
      "Service-Failure-Callback": endpoint.url,
    });

    const errorsOf = (run: Json | undefined): readonly Json[] =>
      (rowsOf(run).at(-1)?.["errors"] ?? []) as readonly Json[];
    // Over six services the log gets the run's end and its attempts in any order.
    const failed = await eventually(
      () => logged(id),
      (run) => run?.["workflowState"] === "RUN_FAILED" && errorsOf(run).length === 2,
    );

    const missing = "has no header Service-Workflow-Sdk-Version: 1";
    expect(errorsOf(failed).map(({ error }) => error)).toEqual(
      Array(2).fill(expect.stringContaining(missing)),
    );
    expect(await eventually(async () => endpoint.told, isFilled)).toHaveLength(1);
    const body = Buffer.from(String(endpoint.told[0]?.["body"]), "base64").toString();
    expect(JSON.parse(body)).toMatchObject({ message: expect.stringContaining(missing) });
    const dlqId = String(failed?.["dlqId"]);
    const letter = (await client.get(`/v2/workflows/dlq/${dlqId}`)).object();
    expect(letter["error"]).toContain(missing);
    endpoint.page = undefined;
    const again = { "Service-Workflow-RunId": `${id}-again` };
    expect((await client.post(`/v2/workflows/dlq/resume/${dlqId}`, again)).status).toBe(200);
    await inState(`${id}-again`, "RUN_SUCCESS");
  });

  it("fails a run that was started by a publish, where a page has taken a call's answer or a plan", async () => {
    for (const [id, length] of [
      ["call-page", 0],
      ["plan-page", 2],
    ] as const) {
      let isStarted = false;
      const endpoint = new Small(`/${id}`, true, (entries) => {
        const isHere = entries.length === length && isStarted;
        isStarted = true;
        return isHere;
      });
      endpoint.page = (response) => response.end("<p>log in");
      const start = { "Service-Workflow-RunId": id, "Service-Workflow-Init": "true" };
      await server.client.publish(endpoint.url, { ...start, ...retries });

      const failed = await inState(id, "RUN_FAILED");
      expect(JSON.stringify(failed)).toContain("has no header Service-Workflow-Sdk-Version: 1");
    }
  });

  it("is accepted from an endpoint that marks no answer from the start on", async () => {
    for (const id of ["plain-1", "call-plain"]) {
      const endpoint = new Small(`/${id}`, false, () => false);
      const started = { "Service-Workflow-RunId": id, "Service-Retries": "0" };
      // After a publish nothing is expected of the endpoint. After a trigger it continues before it answers.
      if (id === "plain-1") await server.client.post(`/v2/trigger/${endpoint.url}`, started);
      else
        await server.client.publish(endpoint.url, { ...started, "Service-Workflow-Init": "true" });

      await inState(id, "RUN_SUCCESS");
    }
  });
});

describe("the waiting retry of a run's message", () => {
  it("can be made now: that of a start, a call, its answer, a step, the end of an invoked run, and a failure function", async () => {
    const { client } = server;
    const made: string[] = [];
    const retried: Promise<unknown>[] = [];
    /** Fails the first attempt of each message, and at once asks for its retry, which is twelve seconds ahead. */
    const failsFirst = ({ headers }: Arrival, response: ServerResponse): boolean => {
      if (headers["service-retried"] !== "0") return false;
      const id = String(headers["service-message-id"]);
      response.writeHead(500).end();
      const retry = () => client.post(`/v2/messages/${id}/retry`);
      retried.push(
        eventually(retry, hasStatus(200)).then(() => made.push(id.replace(/^[^_]*_[^_]*_r/, ""))),
      );
      return true;
    };
    const url = destination.url("/now");
    const mark = { "Service-Workflow-Sdk-Version": "1", "Service-Workflow-Sdk": "v1.3.3" };
    const invocation = {
      ...{ workflowRunId: "now", workflowUrl: url },
      headers: { "Service-Workflow-RunId": ["now"], "Service-Workflow-Init": ["false"] },
      step: { stepId: 2, stepType: "Invoke", concurrent: 1 },
    };
    const goOn = (arrival: Arrival): Promise<Reply> => {
      if (isAnswer(arrival)) return client.publish(url, ofRun("now"), '{"stepId":1,"out":"1"}');
      if (entriesIn(arrival).length === 0)
        return client.publish(destination.url("/now/called"), {
          ...ofRun("now"),
          ...{ "Service-Workflow-CallType": "toCallback", "Service-Callback": url },
          "Service-Callback-Forward-Service-Workflow-Callback": "true",
          "Service-Callback-Forward-Service-Workflow-StepId": "1",
        });
      const child = { ...ofRun("now-child"), "Service-Workflow-Init": "true" };
      return client.publish(
        destination.url("/now/child"),
        { ...child, "Service-Workflow-Invoke": "true" },
        JSON.stringify(invocation),
      );
    };
    destination.answers("/now/called", (arrival, response) => {
      if (!failsFirst(arrival, response)) response.end("called");
    });
    destination.answers("/now/child", (arrival, response) => {
      if (failsFirst(arrival, response)) return;
      void client
        .delete("/v2/workflows/runs/now-child?cancel=false")
        .then(() => response.writeHead(200, mark).end());
    });
    destination.answers("/now", (arrival, response) => {
      if (failsFirst(arrival, response)) return;
      if (arrival.headers["service-workflow-is-failure"]) return void response.end();
      if (!isAnswer(arrival) && entriesIn(arrival).length === 2)
        return void response.writeHead(489, { "Service-NonRetryable-Error": "true" }).end();
      void taken(goOn(arrival)).then(
        () => response.writeHead(200, mark).end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    await client.post(`/v2/trigger/${url}`, {
      "Service-Workflow-RunId": "now",
      "Service-Failure-Callback": url,
    });

    const isTold = ({ headers }: Arrival) =>
      headers["service-workflow-is-failure"] && headers["service-retried"] === "1";
    await destination.until(() => destination.at("/now").some(isTold));
    await Promise.all(retried);

    expect(made).toHaveLength(7);
    const parts = made.map((id) => (id.startsWith("msg_") ? "start" : id));
    expect(parts).toEqual(["start", "c1", "a1", "s1", "start", "s2", "f"]);
  });

  it("is not the sleep of a step, which lasts its full time", async () => {
    const { client } = server;
    const mark = { "Service-Workflow-Sdk-Version": "1", "Service-Workflow-Sdk": "v1.3.3" };
    const url = destination.url("/asleep");
    const { promise: slept, resolve } = Promise.withResolvers<string>();
    destination.answers("/asleep", (_, response) => {
      const sleep = { ...ofRun("asleep"), "Service-Delay": "1h" };
      void client
        .published(url, sleep, '{"stepId":1,"stepType":"SleepFor","sleepFor":3600}')
        .then((id) => {
          response.writeHead(200, mark).end();
          resolve(id);
        });
    });
    await client.post(`/v2/trigger/${url}`, { "Service-Workflow-RunId": "asleep" });
    const id = await slept;

    const reply = await client.post(`/v2/messages/${id}/retry`);

    expect([reply.status, reply.error()]).toEqual([
      400,
      "messageId: the message is a step of a run that sleeps",
    ]);
    await client.delete("/v2/workflows/runs/asleep");
  });
});
