/** Tests how workflows fail and are cancelled and begun again, with the npm package `@upstash/workflow`, unmodified, against the server. */
import { describe, expect, it } from "@jest/globals";
import { WorkflowNonRetryableError } from "@upstash/workflow";
import { eventually, isFilled, equals } from "./client.ts";
import {
  client,
  endpoint,
  hasEnded,
  server,
  startBeforeTests,
  started,
  third,
  trigger,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

describe("a workflow", () => {
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
    await eventually(async () => failures, isFilled);
    expect(failures).toEqual([
      { id: workflowRunId, payload: { of: "it" }, failStatus: 500, failResponse: "broken" },
    ]);
    expect(endpoint.deliveries("/failing").map(({ length }) => length)).toEqual([1, 2, 2, 0]);
  });

  it("that is cancelled gets no more deliveries, and a second cancel counts none", async () => {
    const { url } = workflow("/cancelled", async (context) => {
      await context.sleep("two seconds", 2);
      await context.run("never", () => 1);
    });
    const workflowRunId = await trigger({ url });
    await eventually(async () => endpoint.deliveries("/cancelled"), isFilled);

    expect(await client.cancel({ ids: [workflowRunId] })).toEqual({ cancelled: 1 });
    expect(await client.cancel({ ids: [workflowRunId] })).toEqual({ cancelled: 0 });
    await hasEnded(workflowRunId);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(endpoint.deliveries("/cancelled")).toHaveLength(1);
  });

  it("whose endpoint answers without being a workflow fails at once", async () => {
    third.answers("/no-workflow", (_, response) => response.end("hello"));
    const id = await trigger({ url: third.url("/no-workflow"), retries: 3 });
    await hasEnded(id);
    const { text } = await server.client.get(`/v2/workflows/logs?workflowRunId=${id}`);

    expect(text).toContain("detected a non-workflow destination");
    // The delivery to its failure function arrives, too.
    await eventually(async () => third.at("/no-workflow").length, equals(2));
    expect(
      third.at("/no-workflow").map(({ headers }) => headers["upstash-workflow-is-failure"]),
    ).toEqual([undefined, "true"]);
  });

  it.each([
    ["no SDK", "hello", {}],
    ["an SDK before 1.0", "{}", { "Upstash-Workflow-Sdk-Version": "1" }],
  ])("started by a plain request fails at once when %s answers", async (by, answer, headers) => {
    const path = `/asked/${by.replaceAll(" ", "-")}`;
    third.answers(path, (_, response) => response.writeHead(200, headers).end(answer));
    const reply = await server.client.post(`/v2/trigger/${third.url(path)}`, {
      "Upstash-Failure-Callback": third.url("/told"),
    });
    const id = String(reply.object()["workflowRunId"]);

    await hasEnded(id);
    const log = await server.client.get(`/v2/workflows/logs?workflowRunId=${id}`);

    expect(log.text).toContain("trigger rest api is only usable with sdk versions after v1.0.0");
    expect(third.at(path)).toHaveLength(1);
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
