/** Tests the dead letters of runs, and what their log hides, with the npm package `@upstash/workflow`, unmodified. */
import { describe, expect, it } from "@jest/globals";
import { eventually } from "./client.ts";
import { client, inState, logged, server, startBeforeTests, workflow } from "./workflow-clients.ts";

startBeforeTests();

async function failed(path: string): Promise<{ readonly id: string; readonly url: string }> {
  const { url } = workflow(path, (context) =>
    context.run("fails", () => {
      throw new Error("broken");
    }),
  );
  const { workflowRunId } = await client.trigger({ url, body: "payload", retries: 0 });
  await inState(workflowRunId, "RUN_FAILED");
  return { id: workflowRunId, url };
}

const errorsIn = (group: unknown): number => JSON.stringify(group).split('"error":').length - 1;

const hasAnswer = (told: object): boolean =>
  "responseStatus" in told && told.responseStatus === 200;

describe("a run that failed", () => {
  it("is a dead letter until its removal, and stays in the log", async () => {
    const { id, url } = await failed("/letter");

    const { messages } = await client.dlq.list({ filter: { workflowRunId: id } });

    expect(messages).toHaveLength(1);
    const [letter] = messages;
    expect(letter).toMatchObject({
      workflowRunId: id,
      workflowUrl: url,
      body: "payload",
      responseStatus: 500,
    });
    const dlqId = letter?.dlqId ?? "";
    const step = { state: "STEP_FAILED", errors: [{ status: 500 }] };
    expect(await logged(id)).toMatchObject({ dlqId, steps: [{}, { type: "next", steps: [step] }] });
    const one = await server.client.get(`/v2/workflows/dlq/${dlqId}`);
    expect(JSON.parse(one.text)).toMatchObject({ dlqId, workflowRunId: id });

    expect(await client.dlq.delete(dlqId)).toMatchObject({ deleted: 1 });
    expect(await client.dlq.delete(dlqId)).toMatchObject({ deleted: 0 });
    expect((await server.client.get(`/v2/workflows/dlq/${dlqId}`)).status).toBe(404);
    expect((await logged(id))?.workflowState).toBe("RUN_FAILED");
    expect(await logged(id)).not.toHaveProperty("dlqId");
  });

  it("returns the answers to its failure function, attempt by attempt", async () => {
    let told = 0;
    const { url } = workflow(
      "/told-of",
      (context) =>
        context.run("fails", () => {
          throw new Error("broken");
        }),
      {
        failureFunction: () => {
          told += 1;
          if (told === 1) throw new Error("not yet told");
          return "heard";
        },
      },
    );
    const { workflowRunId } = await client.trigger({ url, retries: 1, retryDelay: "1" });

    const run = await eventually(
      () => logged(workflowRunId),
      (now) =>
        now?.failureFunction?.state === "CALLBACK_SUCCESS" &&
        hasAnswer(now.failureFunction) &&
        // From another event of the log, which may come later.
        "errors" in now.failureFunction,
    );

    expect(run?.failureFunction).toMatchObject({
      url,
      state: "CALLBACK_SUCCESS",
      failStatus: 500,
      failResponse: expect.stringContaining("broken"),
      responseStatus: 200,
      errors: [{ status: 500, body: expect.stringContaining("not yet told") }],
    });
    const letter = await server.client.get(`/v2/workflows/dlq?workflowRunId=${workflowRunId}`);
    expect(JSON.parse(letter.text)).toMatchObject({
      messages: [{ failureCallbackInfo: { state: "CALLBACK_SUCCESS", responseStatus: 200 } }],
    });
  });

  it("is not removed by a request without ids or a filter", async () => {
    const { id } = await failed("/kept");

    const { status } = await server.client.call("DELETE", "/v2/workflows/dlq", {}, "");

    expect(status).toBe(400);
    expect((await logged(id))?.dlqId).toBeDefined();
  });

  it("does not show redacted data", async () => {
    const { url } = workflow("/redacted", async (context) => {
      await context.run("tells", () => "canary-of-a-step");
      await context.run("fails", () => {
        throw new Error("canary-of-an-error");
      });
    });
    const { workflowRunId } = await client.trigger({
      url,
      body: "canary-of-a-payload",
      headers: { "My-Header": "canary-of-a-header" },
      retries: 1,
      retryDelay: "1",
      redact: { body: true, header: true },
    });
    await inState(workflowRunId, "RUN_FAILED");
    await eventually(
      () => logged(workflowRunId),
      (run) => run?.steps.at(-1)?.steps[0] !== undefined && errorsIn(run.steps.at(-1)) === 2,
    );

    for (const path of [
      "logs?trimBody=1000&",
      "events?groupBy=workflowRunId&",
      "events?",
      "messageLogs?",
      "dlq?",
    ]) {
      const { status, text } = await server.client.get(
        `/v2/workflows/${path}workflowRunId=${workflowRunId}`,
      );
      expect(status).toBe(200);
      expect(text).toContain("REDACTED:");
      expect(text).not.toContain("canary");
    }
    expect(server.output()).not.toContain("canary");
  });

  it("shows nothing redacted to a caller that notifies an event, or lists its waiters", async () => {
    const { url } = workflow("/redacted/waits", async (context) => {
      await context.waitForEvent("waits", "of a canary", { timeout: "1m" });
    });
    const runs: string[] = [];
    // An older client sends its user's headers with each step.
    for (const headers of [{}, { "Upstash-Feature-Set": "InitialBody" }]) {
      const id = `redacted-${runs.length}`;
      runs.push(id);
      const started = await server.client.publish(
        url,
        {
          ...headers,
          "Upstash-Workflow-Init": "true",
          "Upstash-Workflow-RunId": id,
          "Upstash-Workflow-Sdk-Version": "1",
          "Upstash-Forward-Upstash-Workflow-Sdk-Version": "1",
          "Upstash-Forward-My-Header": "canary",
          "Upstash-Redact-Fields": "body,header",
        },
        "canary",
      );
      expect(started.status).toBe(200);
    }
    const waiting = await eventually(
      () => server.client.get("/v2/waiters/of%20a%20canary"),
      (reply) => reply.list().length === 2,
    );
    const told = await server.client.post("/v2/notify/of%20a%20canary", {}, "canary");

    expect(told.list().map(({ workflowRunId }) => workflowRunId)).toEqual(
      expect.arrayContaining(runs),
    );
    for (const { text } of [waiting, told]) {
      expect(text).toContain("REDACTED:");
      expect(text).not.toContain('canary"');
    }
    expect(server.output()).not.toContain("canary");
    for (const id of runs) await inState(id, "RUN_SUCCESS");
  });
});
