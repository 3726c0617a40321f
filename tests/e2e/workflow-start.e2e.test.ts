/** Tests starts that no workflow client makes in one request: in two phases, and many in one request. */
import { describe, expect, it } from "@jest/globals";
import { type WorkflowContext } from "@upstash/workflow";
import { eventually, isFilled } from "./client.ts";
import { type Json } from "./json.ts";
import { type Delivery } from "./workflow-endpoint.ts";
import {
  client,
  endpoint,
  inState,
  logged,
  server,
  startBeforeTests,
  third,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

const twoSteps = async (context: WorkflowContext) => {
  const one = await context.run("one", () => 1);
  const two = await context.run("two", () => 2);
  return [context.requestPayload, context.headers.get("my-own"), one + two];
};

const asks = ({ headers }: Delivery): boolean => headers["upstash-workflow-unknown-sdk"] === "true";

it.each(["by trigger", "in a batch", "by publish"])(
  "a start with a deduplication id makes one run, whatever run ids its repeats have: %s",
  async (how) => {
    const { url, ended } = workflow(`/once-${how.replaceAll(" ", "-")}`, twoSteps);
    const settings = { "Upstash-Deduplication-Id": how, "Upstash-Forward-My-Own": "kept" };
    const begin = async (n: number): Promise<Json> => {
      const id = { "Upstash-Workflow-RunId": `once-${how.replaceAll(" ", "-")}-${n}` };
      const headers = { ...settings, ...id };
      if (how === "by trigger")
        return (await server.client.post(`/v2/trigger/${url}`, headers, "payload")).object();
      const init = { ...headers, "Upstash-Workflow-Init": "true" };
      if (how === "by publish")
        return (await server.client.post(`/v2/publish/${url}`, init, "payload")).object();
      const items = JSON.stringify([{ destination: url, headers: init, body: "payload" }]);
      const [started = {}] = (await server.client.post("/v2/batch", {}, items)).list();
      return started;
    };

    const first = await begin(1);
    const second = await begin(2);

    expect(await ended).toEqual(["payload", "kept", 3]);
    if (how === "by trigger") expect(second).toEqual(first);
    else expect(second).toEqual({ ...first, deduplicated: true });
    const list = await client.logs({ filter: { workflowUrl: url } });
    expect(list.runs.map(({ workflowRunId }) => workflowRunId)).toEqual([
      `once-${how.replaceAll(" ", "-")}-1`,
    ]);
  },
);

describe("a start in two phases", () => {
  it.each(["by a client", "by a plain request"])(
    "%s asks the endpoint first, which starts the run itself: one delivery more",
    async (how) => {
      const path = `/asked/${how.replaceAll(" ", "-")}`;
      const { url, ended } = workflow(path, twoSteps);
      const asking = { "Upstash-Workflow-Unknown-Sdk": "true" };
      const own = { "My-Own": "kept" };
      const started =
        how === "by a client"
          ? await client.trigger({ url, body: "payload", headers: { ...asking, ...own } })
          : (
              await server.client.post(
                `/v2/trigger/${url}`,
                { ...asking, "Upstash-Forward-My-Own": "kept" },
                "payload",
              )
            ).object();

      expect(await ended).toEqual(["payload", "kept", 3]);
      const id = String(started["workflowRunId"]);
      const { steps } = (await inState(id, "RUN_SUCCESS")) ?? { steps: [] };
      expect(steps.map(({ type }) => type)).toEqual(["sequential", "sequential", "sequential"]);
      const deliveries = endpoint.deliveries(path);
      expect(deliveries.map(({ length }) => length)).toEqual([1, 1, 2, 3]);
      expect(deliveries.map(asks)).toEqual([true, false, false, false]);
      for (const { headers } of deliveries) expect(headers["upstash-workflow-runid"]).toBe(id);
    },
  );

  it("happens once, however often the endpoint starts the run", async () => {
    const seen: string[] = [];
    third.answers("/twice", (arrival, response) => {
      seen.push(String(arrival.headers["upstash-message-id"]));
      response.setHeader("Upstash-Workflow-Sdk-Version", "1");
      response.setHeader("Upstash-Workflow-Sdk", "v1.3.3").end();
    });
    const url = third.url("/twice");
    const headers = { "Upstash-Workflow-RunId": "twice", "Upstash-Workflow-Unknown-Sdk": "1" };
    await server.client.post(`/v2/trigger/${url}`, headers, "payload");
    await third.arrivals("/twice");
    const init = {
      "Upstash-Workflow-RunId": "twice",
      "Upstash-Workflow-Init": "true",
      "Upstash-Workflow-Trigger-By-Sdk": "true",
    };

    const answers = await Promise.all(
      [1, 2, 3].map(() => server.client.post(`/v2/publish/${url}`, init, "payload")),
    );

    const ids = new Set(answers.map((answer) => answer.object()["messageId"]));
    expect(ids.size).toBe(1);
    expect(answers.filter((answer) => answer.object()["deduplicated"])).toHaveLength(2);
    await third.arrivals("/twice", 2);
    expect(seen[1]).toBe([...ids][0]);
    await client.cancel({ ids: ["twice"] });
    expect(third.at("/twice")).toHaveLength(2);
  });

  it("of an endpoint that is not a workflow fails with a text that says so", async () => {
    third.answers("/plain", (_, response) => response.end("no workflow"));
    const url = third.url("/plain");
    const reply = await server.client.post(`/v2/trigger/${url}`, {
      "Upstash-Workflow-Unknown-Sdk": "1",
    });

    const run = await inState(String(reply.object()["workflowRunId"]), "RUN_FAILED");

    const [error] = run?.steps.at(-1)?.steps.flatMap((step) => (step as Failed).errors ?? []) ?? [];
    expect(error?.error).toContain(
      "trigger rest api is only usable with sdk versions after v1.0.0",
    );
    expect(error?.body).toBe("no workflow");
  });
});

type Failed = { readonly errors?: readonly { readonly error: string; readonly body: string }[] };

describe("POST /v2/batch/trigger", () => {
  const trigger = (items: unknown) => server.client.postJson("/v2/batch/trigger", items);

  it("starts a run for each item, and none for a name that is active", async () => {
    const { url } = workflow("/batch", async (context) => {
      await context.run("one", () => 1);
      await context.waitForEvent("wait", "batch.event", { timeout: "1h" });
      return context.requestPayload;
    });
    const named = { "Upstash-Workflow-RunId": "batch-a", "Upstash-Label": "batch" };

    const reply = await trigger([
      { destination: url, body: "a", headers: named },
      { destination: url, body: "b" },
      { destination: url, body: "c", headers: named },
    ]);

    expect(reply.status).toBe(201);
    const [a, b, c] = reply.list() as readonly Readonly<Record<string, unknown>>[];
    expect(a).toEqual({ workflowRunId: "batch-a", workflowCreatedAt: expect.any(Number) });
    expect(c).toEqual({ ...a, deduplicated: true });
    await eventually(() => client.notify({ eventId: "batch.event" }), isFilled);
    const ids = [a, b].map((each) => String(each?.["workflowRunId"]));
    await eventually(
      async () => {
        await client.notify({ eventId: "batch.event" });
        return Promise.all(ids.map(logged));
      },
      (runs) => runs.every((run) => run?.workflowState === "RUN_SUCCESS"),
    );
    const runs = await Promise.all(ids.map(logged));
    expect(runs.map((run) => run?.workflowRunResponse)).toEqual(['"a"', '"b"']);
    expect(runs.map((run) => run?.label)).toEqual(["batch", undefined]);
  });

  it("starts none when one item is wrong, and names that item", async () => {
    const url = third.url("/none");
    const good = { destination: url, headers: { "Upstash-Workflow-RunId": "batch-none" } };
    const bad = [
      [{ destination: "a-group" }, /^\[1\]\.headers: .*a run has one URL, and not a group/],
      [{ destination: "ftp://x" }, /^\[1\]\.destination: /],
      [{ destination: url, headers: { "Upstash-Retries": "x" } }, /^\[1\]\.headers: /],
      [
        { destination: url, headers: { "Upstash-Workflow-Init": "false" } },
        /^\[1\]: a trigger starts a run|^\[1\]\.headers/,
      ],
      [{}, /^\[1\]\.destination: /],
    ] as const;
    for (const [item, says] of bad) {
      const reply = await trigger([good, item]);
      expect([400, 412]).toContain(reply.status);
      expect(String(reply.object()["error"])).toMatch(says);
    }
    expect((await trigger({})).status).toBe(400);
    expect((await trigger([])).list()).toEqual([]);

    expect((await server.client.get("/v2/workflows/runs/batch-none")).status).toBe(404);
    expect(third.at("/none")).toHaveLength(0);
  });
});
