/** Tests the log of runs with the npm package `@upstash/workflow`, unmodified. */
import { describe, expect, it } from "@jest/globals";
import { createWorkflow, serveMany } from "@upstash/workflow/nextjs";
import { eventually, hasLength } from "./client.ts";
import {
  client,
  type Context,
  endpoint,
  inState,
  logged,
  qstashClient,
  server,
  startBeforeTests,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

type ShownEvent = {
  readonly state: string;
  readonly workflowRunId: string;
  readonly stepInfo?: { readonly stepName?: string; readonly messageId?: string };
};

const eventsAt = (path: string) => allPagesOf(path, undefined);
const messagesAt = (path: string) => allPagesOf(path, "");

/** `last`: the cursor of the last page. */
async function allPagesOf(path: string, last: "" | undefined): Promise<readonly ShownEvent[]> {
  const found: ShownEvent[] = [];
  for (let cursor = ""; ;) {
    const { text } = await server.client.get(`${path}&cursor=${encodeURIComponent(cursor)}`);
    const page = JSON.parse(text) as { cursor?: string; events: readonly ShownEvent[] };
    found.push(...page.events);
    if (!page.cursor) {
      expect(page.cursor).toBe(last);
      return found;
    }
    cursor = page.cursor;
  }
}

describe("the log of runs", () => {
  it("returns a run with its steps in groups, and its result", async () => {
    const { url } = workflow("/told", async (context) => {
      const first = await context.run("first", () => "some-body");
      await Promise.all([context.run("a", () => 1), context.run("b", () => 2)]);
      return first;
    });

    const { workflowRunId } = await client.trigger({ url, body: "payload", label: "told" });

    const run = await inState(workflowRunId, "RUN_SUCCESS");
    expect(run).toMatchObject({
      workflowRunId,
      workflowUrl: url,
      workflowRunResponse: '"some-body"',
      label: "told",
    });
    const groups = run?.steps.map(({ type, steps }) => [
      type,
      steps.map((step) => ("stepName" in step ? step.stepName : undefined)),
    ]);
    expect(groups).toEqual([
      ["sequential", ["init"]],
      ["sequential", ["first"]],
      ["parallel", ["a", "b"]],
    ]);
    const [init, first] = run?.steps ?? [];
    expect(init?.steps[0]).toMatchObject({ stepType: "Initial", out: "payload" });
    expect(first?.steps[0]).toMatchObject({
      stepId: 1,
      stepType: "Run",
      state: "STEP_SUCCESS",
      out: '"some-body"',
    });
    expect(run).not.toHaveProperty("workflowRunCallerIp");
  });

  it("shows a step that is retried, and the time of the retry", async () => {
    const { url } = workflow("/retrying", (context) =>
      context.run("fails", () => {
        throw new Error("not yet");
      }),
    );
    const { workflowRunId } = await client.trigger({ url, retries: 3, retryDelay: "3600000" });

    const run = await eventually(
      () => logged(workflowRunId),
      (now) => JSON.stringify(now?.steps).includes("STEP_RETRY"),
    );

    expect(run?.workflowState).toBe("RUN_STARTED");
    const next = run?.steps.at(-1);
    expect(next).toMatchObject({ type: "next", steps: [{ state: "STEP_RETRY", retries: 3 }] });
    expect(next?.steps[0]).toHaveProperty("nextDeliveryTime");
    const error = { status: 500, body: expect.stringContaining("not yet") };
    await eventually(
      () => logged(workflowRunId),
      (now) => JSON.stringify(now?.steps).includes("not yet"),
    );
    expect((await logged(workflowRunId))?.steps.at(-1)).toMatchObject({
      steps: [{ errors: [error] }],
    });
    const retried = await server.client.get("/v2/workflows/logs?state=STEP_RETRY");
    expect(retried.text).toContain(workflowRunId);
    await client.cancel({ ids: [workflowRunId] });
    expect(await logged(workflowRunId)).toMatchObject({
      workflowState: "RUN_CANCELED",
      steps: [{}, { type: "next", steps: [{ state: "STEP_CANCELED" }] }],
    });
  });

  it("shows the failed attempts of a step that was retried, also after its end", async () => {
    let attempts = 0;
    const { url } = workflow("/retried", (context) =>
      context.run("third time", () => {
        attempts += 1;
        if (attempts < 3) throw new Error(`attempt ${attempts}`);
        return "done";
      }),
    );

    const { workflowRunId } = await client.trigger({ url, retries: 3, retryDelay: "1" });

    await inState(workflowRunId, "RUN_SUCCESS");
    const run = await eventually(
      () => logged(workflowRunId),
      (now) => JSON.stringify(now?.steps).includes("attempt 2"),
    );
    const errors = [1, 2].map((n) => ({
      status: 500,
      body: expect.stringContaining(`attempt ${n}`),
    }));
    expect(run?.steps[1]).toMatchObject({ steps: [{ state: "STEP_SUCCESS", errors }] });
  });

  it("shows the request of a call during the call, and its answer afterwards", async () => {
    const asked = endpoint.route("/third", async (request) => {
      const body = await request.text();
      if (body !== "again") return new Response("busy", { status: 503 });
      return new Response("answered", { status: 201, headers: { "X-Answer": "a" } });
    });
    const { url } = workflow<string, unknown>("/calls", async (context) => {
      const { status } = await context.call("tells", {
        url: asked,
        method: "PUT",
        headers: { "X-Asked": "b" },
        body: context.requestPayload,
        retries: 1,
        retryDelay: context.requestPayload === "again" ? "1" : "3600000",
      });
      return status;
    });
    const request = {
      stepName: "tells",
      stepType: "Call",
      callUrl: asked,
      callMethod: "PUT",
      callHeaders: { "X-Asked": ["b"] },
    };

    const waits = await client.trigger({ url, body: "once" });
    const ends = await client.trigger({ url, body: "again" });

    const waiting = await eventually(
      () => logged(waits.workflowRunId),
      (now) => JSON.stringify(now?.steps).includes("busy"),
    );
    expect(waiting?.steps.at(-1)).toMatchObject({
      steps: [
        {
          ...request,
          callBody: "once",
          state: "STEP_RETRY",
          errors: [{ status: 503, body: "busy" }],
        },
      ],
    });
    await client.cancel({ ids: [waits.workflowRunId] });
    const done = await inState(ends.workflowRunId, "RUN_SUCCESS");
    expect(done?.steps[1]).toMatchObject({
      steps: [
        {
          ...request,
          callBody: "again",
          callResponseStatus: 201,
          callResponseBody: "answered",
          state: "STEP_SUCCESS",
        },
      ],
    });
  });

  it("shows when an invoked run was created and how it ended, also after the end of its invoker", async () => {
    const { promise: asked, resolve: invoked } = Promise.withResolvers<string>();
    const child = createWorkflow(
      async (context: Context<string>) => {
        invoked(context.workflowRunId);
        await context.waitForEvent("told", `of ${context.workflowRunId}`);
        return "done";
      },
      { disableTelemetry: true },
    );
    const parent = createWorkflow(
      async (context: Context<string>) => {
        await context.invoke("child", { workflow: child, body: "payload" });
      },
      { disableTelemetry: true },
    );
    const both = serveMany({ child, parent }, { qstashClient });
    endpoint.route("/both/child", both.POST);
    const url = endpoint.route("/both/parent", both.POST);
    const { workflowRunId } = await client.trigger({ url });
    const childId = await asked;
    const { workflowRunCreatedAt } = (await logged(childId)) ?? {};
    const since = { invokedWorkflowRunId: childId, invokedWorkflowCreatedAt: workflowRunCreatedAt };
    const stepOf = async () => (await logged(workflowRunId))?.steps.at(-1)?.steps[0];
    const isSince = (step: unknown) => JSON.stringify(step).includes("invokedWorkflowCreatedAt");
    expect(await eventually(stepOf, isSince)).toMatchObject({ ...since, state: "STEP_PROGRESS" });

    await client.cancel({ ids: workflowRunId });
    await eventually(() => client.notify({ eventId: `of ${childId}` }), hasLength(1));

    const ended = await eventually(stepOf, (step) => step?.state === "STEP_SUCCESS");
    expect(ended).toMatchObject({ ...since, stepName: "child", stepType: "Invoke" });
    const out = { body: '"done"', isCanceled: false, isFailed: false };
    expect(JSON.parse(String(ended && "out" in ended && ended.out))).toEqual(out);
    const parentNow = await logged(workflowRunId);
    expect(parentNow?.workflowState).toBe("RUN_CANCELED");
    expect(await logged(childId)).toMatchObject({
      invoker: {
        ...{ workflowRunId, workflowUrl: url },
        workflowRunCreatedAt: parentNow?.workflowRunCreatedAt,
      },
    });
  });

  it("returns the events of a run, one by one and page by page", async () => {
    let attempts = 0;
    const { url } = workflow("/happened", async (context) => {
      await context.run("second time", () => {
        attempts += 1;
        if (attempts === 1) throw new Error("not yet");
        return "canary";
      });
      await context.run("next", () => 1);
    });
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { workflowRunId } = await client.trigger({ url, retries: 1, retryDelay: "1" });
      await inState(workflowRunId, "RUN_SUCCESS");
      ids.unshift(workflowRunId);
    }
    const path = `/v2/workflows/events?workflowUrl=${encodeURIComponent(url)}`;
    const all = () => eventsAt(path);
    await eventually(all, (events) => events.some(({ state }) => state === "STEP_RETRY"));

    const whole = await all();
    const paged = await eventsAt(`${path}&count=2`);

    expect(whole.map(({ state, workflowRunId }) => [ids.indexOf(workflowRunId), state])).toEqual([
      ...["RUN_SUCCESS", "STEP_SUCCESS", "STEP_SUCCESS", "STEP_SUCCESS", "RUN_STARTED"].map(
        (state) => [0, state],
      ),
      [1, "RUN_SUCCESS"],
      [1, "STEP_SUCCESS"],
      [1, "STEP_SUCCESS"],
      [1, "STEP_RETRY"],
      [1, "STEP_SUCCESS"],
      [1, "RUN_STARTED"],
    ]);
    expect(paged).toEqual(whole);
    expect(await eventsAt(`${path}&state=STEP_RETRY&count=1`)).toEqual([
      expect.objectContaining({
        state: "STEP_RETRY",
        workflowRunId: ids[1],
        responseStatus: 500,
        stepInfo: expect.objectContaining({ stepId: 1, stepName: "second time" }),
      }),
    ]);
    expect(JSON.stringify(whole)).toContain("canary");
    expect(JSON.stringify(await eventsAt(`${path}&trimBody=-1`))).not.toContain("canary");
  });

  it("returns the events of each message of a run to older clients, page by page", async () => {
    let attempts = 0;
    const { url } = workflow("/messages", async (context) => {
      await context.run("second time", () => {
        attempts += 1;
        if (attempts === 1) throw new Error("not yet");
        return "canary";
      });
      await context.waitForEvent("waits", "of messages");
    });
    const { workflowRunId } = await client.trigger({ url, retries: 1, retryDelay: "1" });
    await eventually(() => client.notify({ eventId: "of messages" }), hasLength(1));
    await inState(workflowRunId, "RUN_SUCCESS");
    const path = `/v2/workflows/messageLogs?workflowUrl=${encodeURIComponent(url)}`;
    const all = () => messagesAt(path);

    const whole = await eventually(all, (events) => events.some(({ state }) => state === "RETRY"));
    const paged = await messagesAt(`${path}&count=2`);

    const told = whole.toReversed().map(({ state, stepInfo }) => [stepInfo?.stepName, state]);
    expect(told.filter(([name]) => name === undefined)).toEqual([
      ...[
        [undefined, "RUN_STARTED"],
        [undefined, "RUN_SUCCESS"],
      ],
    ]);
    expect(told.filter(([name]) => name === "init")).toEqual(
      ["CREATED", "ACTIVE", "ERROR", "RETRY", "DELIVERED"].map((state) => ["init", state]),
    );
    expect(told.filter(([name]) => name === "second time")).toEqual(
      ["CREATED", "DELIVERED"].map((state) => ["second time", state]),
    );
    expect(told.filter(([name]) => name === "waits")).toEqual(
      ["WAITER_ADDED", "CREATED", "DELIVERED"].map((state) => ["waits", state]),
    );
    expect(paged).toEqual(whole);
    const [error] = await messagesAt(`${path}&state=ERROR`);
    expect(error).toMatchObject({
      ...{ workflowRunId, workflowUrl: url, responseStatus: 500 },
      responseBody: expect.stringContaining("not yet"),
    });
    const { messageId } =
      whole.find(({ stepInfo }) => stepInfo?.stepName === "waits")?.stepInfo ?? {};
    const ofStep = await messagesAt(`${path}&messageId=${messageId}`);
    expect(ofStep.map(({ state }) => state)).toEqual(["DELIVERED", "CREATED"]);
    expect(JSON.stringify(whole)).toContain("canary");
    expect(JSON.stringify(await messagesAt(`${path}&trimBody=-1`))).not.toContain("canary");
    const refused = await server.client.get("/v2/workflows/messageLogs?state=STEP_RETRY");
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("WAITER_ADDED") });
  });

  it("is listed page by page, newest first, with bodies on request", async () => {
    const { url } = workflow("/paged", (context) => context.run("one", () => "canary"));
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { workflowRunId } = await client.trigger({ url });
      await inState(workflowRunId, "RUN_SUCCESS");
      ids.unshift(workflowRunId);
    }

    const first = await client.logs({ workflowUrl: url, count: 2 });
    const second = await client.logs({ workflowUrl: url, count: 2, cursor: first.cursor ?? "" });

    const read = [...first.runs, ...second.runs].map(({ workflowRunId }) => workflowRunId);
    expect(read).toEqual(ids);
    expect(second.cursor).toBeUndefined();
    const path = `/v2/workflows/logs?workflowUrl=${encodeURIComponent(url)}`;
    const bare = await server.client.get(path);
    expect(JSON.parse(bare.text)).toMatchObject({ cursor: "" });
    expect(bare.text).not.toContain("canary");
    expect((await server.client.get(`${path}&trimBody=100`)).text).toContain("canary");
    const heads = await server.client.get(`${path}&trimBody=100&steps=none&count=1`);
    expect(JSON.parse(heads.text)).toMatchObject({
      cursor: expect.stringMatching(/./),
      runs: [{ workflowRunId: ids[0], workflowState: "RUN_SUCCESS", steps: [] }],
    });
    expect(heads.text).not.toContain("canary");
  });

  it.each(["nothing=1", "state=DELIVERED", "groupBy=messageId", "workflowRuns=x", "workflowUrl=x"])(
    "refuses %s, and names the parameter",
    async (query) => {
      const { status, text } = await server.client.get(`/v2/workflows/logs?${query}`);

      expect(status).toBe(400);
      expect(text).toContain(query.split("=")[0]);
    },
  );
});
