/** Tests failed runs with the npm package `@upstash/workflow`: restarted from the beginning, and resumed where they failed. */
import { describe, expect, it } from "@jest/globals";
import {
  serve,
  type TriggerOptions,
  type WorkflowContext,
  WorkflowNonRetryableError,
} from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import { eventually, isFilled } from "./client.ts";
import { firstUser } from "./users.ts";
import {
  client,
  endpoint,
  inState,
  listening,
  logged,
  qstashClient,
  server,
  startBeforeTests,
  third,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests();

class Fault {
  #isMended = false;

  check(): void {
    if (!this.#isMended) throw new WorkflowNonRetryableError("not yet");
  }

  mend(): void {
    this.#isMended = true;
  }
}

async function letterOf(workflowRunId: string): Promise<string> {
  const { messages } = await eventually(
    () => client.dlq.list({ filter: { workflowRunId } }),
    (page) => page.messages.length > 0,
  );
  const [letter] = messages;
  if (!letter) throw new Error("eventually has one");
  return letter.dlqId;
}

/** Starts a run that fails. Returns its dead letter. */
async function failed(options: TriggerOptions): Promise<string> {
  const { workflowRunId } = await client.trigger({ retries: 0, ...options });
  return letterOf(workflowRunId);
}

async function resumed(dlqId: string): Promise<string> {
  const { workflowRuns } = await client.dlq.resume(dlqId);
  const [run] = workflowRuns;
  if (!run || workflowRuns.length > 1) throw new Error("one is resumed");
  return run.workflowRunId;
}

const succeeds = (id: string) => inState(id, "RUN_SUCCESS");

describe("a resumed run", () => {
  it("continues with the step that failed, and repeats no other", async () => {
    const fault = new Fault();
    const done: string[] = [];
    const { url, ended } = workflow("/sequence", async (context) => {
      const one = await context.run("one", () => done.push("one"));
      const two = await context.run("two", () => {
        fault.check();
        return done.push("two");
      });
      return [one, two, await context.run("three", () => done.push("three"))];
    });
    const letter = await failed({ url, headers: { "My-Own": "kept" }, label: "mine" });
    fault.mend();

    const id = await resumed(letter);

    expect(await ended).toEqual([1, 2, 3]);
    expect(done).toEqual(["one", "two", "three"]);
    await succeeds(id);
    const again = endpoint
      .deliveries("/sequence")
      .filter(({ headers }) => headers["upstash-workflow-runid"] === id);
    expect(again.map(({ length }) => length)).toEqual([2, 3, 4]);
    for (const { headers } of again)
      expect(headers).toMatchObject({
        "my-own": "kept",
        "upstash-label": "mine",
      });
  });

  it("is a run of its own each time, and the dead letter stays", async () => {
    const fault = new Fault();
    const { url } = workflow("/often", async (context) => {
      await context.run("one", () => 1);
      await context.run("two", () => fault.check());
    });
    const letter = await failed({ url });
    const failing = await resumed(letter);
    const secondLetter = await letterOf(failing);
    fault.mend();

    const ids = [await resumed(letter), await resumed(letter), await resumed(secondLetter)];

    expect(new Set([...ids, failing]).size).toBe(4);
    for (const id of ids) await succeeds(id);
    expect((await client.dlq.list({ filter: { workflowUrl: url } })).messages).toHaveLength(2);
    await client.dlq.delete(letter);
    expect((await server.client.post(`/v2/workflows/dlq/resume/${letter}`)).status).toBe(404);
  });

  it("from its first step receives its payload again", async () => {
    const fault = new Fault();
    const { url, ended } = workflow("/first", async (context) => {
      const payload = context.requestPayload;
      await context.run("one", () => fault.check());
      return payload;
    });
    const letter = await failed({ url, body: { order: "é" } });
    fault.mend();
    await resumed(letter);

    expect(await ended).toEqual({ order: "é" });
  });

  it("repeats the steps of a group that had no result", async () => {
    const fault = new Fault();
    const done: string[] = [];
    const { url, ended } = workflow("/group", async (context) => {
      const first = await context.run("before", () => done.push("before"));
      const group = await Promise.all([
        context.run("a", () => done.push("a")),
        context.run("b", async () => {
          // The history has the results of the rest of the group by then.
          await eventually(
            () => server.client.get(`/v2/workflows/runs/${context.workflowRunId}`),
            (reply) => reply.list().length >= 7,
          );
          fault.check();
          return done.push("b");
        }),
        context.run("c", () => done.push("c")),
      ]);
      return [first, ...group];
    });
    const letter = await failed({ url });
    fault.mend();
    const id = await resumed(letter);

    expect((await ended).toSorted()).toEqual([1, 2, 3, 4]);
    expect(done.toSorted()).toEqual(["a", "b", "before", "c"]);
    await succeeds(id);
  });

  it("waits for its events with their full time, and receives them", async () => {
    const fault = new Fault();
    const { url, ended } = workflow("/wait", async (context) => {
      const [{ eventData }, told] = await Promise.all([
        context.waitForEvent<string>("wait", "resumed.event", { timeout: "1h" }),
        context.run("fails", () => {
          fault.check();
          return "told";
        }),
      ]);
      return [eventData, told];
    });
    const letter = await failed({ url });
    expect(await client.getWaiters({ eventId: "resumed.event" })).toEqual([]);
    fault.mend();
    const id = await resumed(letter);
    const [waiter] = await eventually(
      () => client.getWaiters({ eventId: "resumed.event" }),
      isFilled,
    );

    expect(waiter?.headers).toMatchObject({ "Upstash-Workflow-Runid": [id] });
    await client.notify({ eventId: "resumed.event", eventData: "heard" });

    expect(await ended).toEqual(["heard", "told"]);
    await succeeds(id);
  });

  it("makes a call again that had no answer", async () => {
    const fault = new Fault();
    const { promise: isCalled, resolve: called } = Promise.withResolvers<void>();
    const { url, ended } = workflow("/call", async (context) => {
      const [{ body }] = await Promise.all([
        context.call<string>("call", { url: third.url("/slow"), method: "POST", body: "asked" }),
        context.run("fails", async () => {
          await isCalled;
          fault.check();
        }),
      ]);
      return body;
    });
    const { promise: hasFailed, resolve: answers } = Promise.withResolvers<void>();
    third.answers("/slow", (_, response, nth) => {
      called();
      if (nth > 0) return void response.end("answer");
      void hasFailed.then(() => response.end("too late"));
    });
    const letter = await failed({ url });
    answers();
    fault.mend();
    const id = await resumed(letter);

    expect(await ended).toBe("answer");
    await succeeds(id);
    expect(third.at("/slow").map(({ body }) => String(body))).toEqual(["asked", "asked"]);
  });

  it("receives the end of a run that was invoked before the failure, and that run is not repeated", async () => {
    const fault = new Fault();
    const children: string[] = [];
    const child = createWorkflow(
      async (context: WorkflowContext<undefined>) => {
        await context.run("begin", () => void children.push(context.workflowRunId));
        await context.waitForEvent("wait", "child.goes.on", { timeout: "1h" });
        return "child's end";
      },
      { disableTelemetry: true },
    );
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    const parent = createWorkflow(
      async (context: WorkflowContext<undefined>) => {
        const [end] = await Promise.all([
          context.invoke("child", { workflow: child, body: undefined }),
          context.run("fails", async () => {
            await eventually(async () => children, isFilled);
            fault.check();
          }),
        ]);
        resolve(end);
      },
      { disableTelemetry: true },
    );
    const { url } = await listening(serveMany({ child, parent }, { qstashClient }));
    const letter = await failed({ url: `${url}/parent` });
    fault.mend();
    const ids = [await resumed(letter), await resumed(letter)];
    await eventually(() => client.notify({ eventId: "child.goes.on" }), isFilled);

    expect(await ended).toEqual({ body: "child's end", isCanceled: false, isFailed: false });
    for (const id of ids) await succeeds(id);
    expect(new Set(children).size).toBe(1);
    const late = await resumed(letter);
    await succeeds(late);
    expect(new Set(children).size).toBe(1);
  });

  it("is found by the webhooks of the failed run", async () => {
    const fault = new Fault();
    const { url, ended } = workflow("/hook", async (context) => {
      const webhook = await context.createWebhook("make");
      await context.run("tell", () => fault.check());
      const { request } = await context.waitForWebhook("wait", webhook, "1h");
      return [webhook.webhookUrl, await request?.text()];
    });
    const { workflowRunId } = await client.trigger({ url, retries: 0 });
    const letter = await letterOf(workflowRunId);
    fault.mend();
    const resumedId = await resumed(letter);
    const { eventId } = await hookOf(workflowRunId);
    const hook = `http://127.0.0.1:${server.port}/v2/workflows/hooks/${firstUser.userId}/${workflowRunId}/${eventId}`;
    expect((await fetch(hook, { method: "POST", body: "signed" })).status).toBe(200);

    expect(await ended).toEqual([hook, "signed"]);
    await succeeds(resumedId);
    // 404, or 429 where other suites have asked too many wrong addresses from this network.
    expect(await (await fetch(hook, { method: "POST" })).text()).toContain("no run waits");
  });
});

async function hookOf(workflowRunId: string): Promise<{ readonly eventId: string }> {
  const made = (await logged(workflowRunId))?.steps[1]?.steps[0] as { out?: string } | undefined;
  return JSON.parse(String(made?.out)) as { readonly eventId: string };
}

describe("a restarted run", () => {
  it("begins again with its payload, its headers and the settings that the caller overrides", async () => {
    const fault = new Fault();
    const done: string[] = [];
    const { url, ended } = workflow("/restarted", async (context) => {
      await context.run("one", () => done.push("one"));
      await context.run("two", () => fault.check());
      return [context.requestPayload, context.headers.get("my-own"), context.label];
    });
    const flowControl = { key: "restarted", parallelism: 2 };
    const headers = { "My-Own": "kept" };
    const letter = await failed({ url, body: "payload", headers, flowControl });
    fault.mend();
    const reply = await server.client.post(`/v2/dlq/restart/${letter}`, {
      "Upstash-Flow-Control-Value": "parallelism=7",
      "Upstash-Label": "again",
      "Upstash-Workflow-RunId": "restarted-run",
    });

    expect(reply.object()).toMatchObject({ workflowRunId: "restarted-run" });
    expect(await ended).toEqual(["payload", "kept", "again"]);
    expect(done).toEqual(["one", "one"]);
    await succeeds("restarted-run");
    const key = await server.client.get("/v2/flowControl/restarted");
    expect(key.object()).toMatchObject({ parallelismMax: 7 });
  });

  it("is refused with half of a flow control that the failed run does not complete", async () => {
    const fault = new Fault();
    const { url } = workflow("/unrestarted", async (context) => {
      await context.run("one", () => fault.check());
    });
    const letter = await failed({ url });

    for (const [half, other, value] of [
      ["Value", "Key", "parallelism=7"],
      ["Key", "Value", "restarted"],
    ] as const) {
      const name = `Service-Flow-Control-${half}`;
      for (const path of [`dlq/restart/${letter}`, `workflows/dlq/restart?dlqIds=${letter}`]) {
        const reply = await server.client.post(`/v2/${path}`, { [name]: value });
        expect(reply.status).toBe(400);
        expect(reply.object()["error"]).toMatch(
          `Flow-Control-${half}: requires Flow-Control-${other}`,
        );
      }
    }
  });
});

describe("a failure function", () => {
  const functionIs = (workflowRunId: string, state: string) =>
    eventually(
      async () => (await logged(workflowRunId))?.failureFunction,
      (told) => told?.state === state,
    );

  it("that has failed is called again on request, and its answer is shown", async () => {
    const fault = new Fault();
    const heard: string[] = [];
    const { handler } = serve(
      async (context) => {
        await context.run("fails", () => {
          throw new WorkflowNonRetryableError("broken");
        });
      },
      {
        ...{ qstashClient, disableTelemetry: true },
        failureFunction: ({ failResponse }) => {
          heard.push(failResponse);
          fault.check();
          return "told";
        },
      },
    );
    const url = endpoint.route("/told", handler);
    const { workflowRunId } = await client.trigger({ url, retries: 0 });
    const letter = await letterOf(workflowRunId);
    const failing = await functionIs(workflowRunId, "CALLBACK_FAIL");
    expect(failing).toMatchObject({ url, dlqId: letter });
    fault.mend();

    const again = await client.dlq.retryFailureFunction({ dlqId: letter });

    expect(again.workflowRunId).toBe(workflowRunId);
    const told = await functionIs(workflowRunId, "CALLBACK_SUCCESS");
    expect(told).toMatchObject({ responseStatus: 200 });
    expect(JSON.parse(String(told?.responseBody))).toEqual({ result: "told" });
    expect(told?.messageId).not.toBe(failing?.messageId);
    expect(heard).toEqual(["broken", "broken"]);
    const path = `/v2/workflows/dlq/callback/${letter}`;
    expect((await server.client.post(path)).status).toBe(400);
    expect((await server.client.delete(path)).status).toBe(400);
    expect((await server.client.post("/v2/workflows/dlq/callback/1-none")).status).toBe(404);
  });

  it("that is cancelled between its attempts is not called again", async () => {
    third.answers("/never", (_, response) => response.writeHead(500).end());
    const { url } = workflow("/untold", async (context) => {
      await context.run("fails", () => {
        throw new WorkflowNonRetryableError("broken");
      });
    });
    const failureUrl = third.url("/never");
    const { workflowRunId } = await client.trigger({ url, failureUrl, retries: 5 });
    const letter = await letterOf(workflowRunId);
    await third.arrivals("/never");
    expect(await functionIs(workflowRunId, "CALLBACK_INPROGRESS")).toMatchObject({
      url: failureUrl,
    });

    const path = `/v2/workflows/dlq/callback/${letter}`;
    expect((await server.client.delete(path)).status).toBe(200);

    expect(await functionIs(workflowRunId, "CALLBACK_CANCELED")).toBeDefined();
    expect(third.at("/never")).toHaveLength(1);
    const { messages } = await client.dlq.list({
      filter: { workflowRunId, failureFunctionState: "CALLBACK_CANCELED" },
    });
    expect(messages).toHaveLength(1);
  });
});

describe("with a run id of the caller's", () => {
  const named = (letter: string, kind: string, id: string) =>
    server.client.post(`/v2/workflows/dlq/${kind}/${letter}`, { "Service-Workflow-RunId": id });

  it("a run is restarted or resumed once, however often the request is repeated", async () => {
    const fault = new Fault();
    const { url } = workflow("/named", async (context) => {
      await context.run("one", () => fault.check());
      await context.sleep("stays", "1h");
    });
    const letter = await failed({ url });
    const other = await failed({ url });
    fault.mend();

    for (const kind of ["restart", "resume"]) {
      const first = await named(letter, kind, `named-${kind}`);
      expect(first.status).toBe(200);
      expect((await named(letter, kind, `named-${kind}`)).object()).toEqual(first.object());
      const refused = await named(other, kind, `named-${kind}`);
      expect(refused.status).toBe(400);
      expect(refused.object()["error"]).toContain("already exists");
    }
    await client.cancel({ filter: { workflowUrl: url } });
  });
});

describe("many failed runs", () => {
  it("are resumed by a filter, up to 50 in a call, and none without a filter", async () => {
    const fault = new Fault();
    const { url } = workflow("/many-failed", async (context) => {
      await context.run("one", () => fault.check());
    });
    const letters = await Promise.all([1, 2, 3].map(() => failed({ url })));
    fault.mend();

    const refused = await server.client.post("/v2/workflows/dlq/resume");
    expect(refused.status).toBe(400);
    const tooMany = Array.from({ length: 51 }, (_, i) => `dlqIds=${i}`).join("&");
    expect((await server.client.post(`/v2/workflows/dlq/resume?${tooMany}`)).status).toBe(400);
    const page = await client.dlq.resume({ filter: { workflowUrl: url }, count: 2 });
    expect(page.workflowRuns).toHaveLength(2);
    expect(page.cursor).toBeDefined();
    const { cursor, workflowRuns } = await client.dlq.resume({
      filter: { workflowUrl: url },
      count: 2,
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    });
    expect(workflowRuns).toHaveLength(1);
    expect(cursor).toBeUndefined();
    for (const { workflowRunId } of [...page.workflowRuns, ...workflowRuns])
      await succeeds(workflowRunId);
    expect((await client.dlq.restart(letters)).workflowRuns).toHaveLength(3);
  });
});
