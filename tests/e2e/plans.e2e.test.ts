/** Tests what a plan caps and counts: calls at once, messages of a day, lists of a second (docs/management.md). */
import { describe, expect, it } from "@jest/globals";
import { type Client, eventually, type Reply, hasLength } from "./client.ts";
import { always, type Responder } from "./destination.ts";
import { inDialect, service } from "./dialects.ts";
import { type Json, numberOf, objectOf, textOf } from "./json.ts";
import { operatorEnv } from "./operator.ts";
import { destination, operator, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ env: operatorEnv });

const publishMany = (client: Client, count: number, path: string): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, () => client.published(destination.url(path), service({}))),
  );

describe("a plan with parallelismMax", () => {
  it("never has more calls at once, and makes all of them in the end", async () => {
    const client = await operator.tenant("capped", { plan: { parallelismMax: 2 } });
    const held: (() => void)[] = [];
    let most = 0;
    const hold: Responder = (_, response) => {
      held.push(() => void response.end());
      most = Math.max(most, held.length);
    };
    destination.answers("/capped", hold);

    await publishMany(client, 12, "/capped");
    await destination.arrivals("/capped", 2);
    const parallelism = await eventually(
      () => client.get("/v2/globalParallelism"),
      (reply) => reply.object()["parallelismCount"] === 2,
    );

    expect(parallelism.object()).toEqual({ parallelismMax: 2, parallelismCount: 2 });
    for (let ended = 0; ended < 12; ended++) {
      await destination.arrivals("/capped", ended + 1);
      await eventually(
        async () => held.length,
        (count) => count > 0,
      );
      held.shift()?.();
    }
    await destination.arrivals("/capped", 12);
    expect(most).toBe(2);
  });

  it("shows 1,000,000 where the plan has none", async () => {
    const reply = await server.client.get("/v2/globalParallelism");

    expect(reply.object()).toEqual({ parallelismMax: 1_000_000, parallelismCount: 0 });
  });
});

describe("a plan with keepBodiesMs", () => {
  it("keeps the bodies of ended messages for its time: not at all, or for hours", async () => {
    const keepBodiesMs = 7_200_000;
    const briefly = await operator.tenant("briefly", { plan: { keepBodiesMs: 0 } });
    const longer = await operator.tenant("longer", { plan: { keepBodiesMs } });
    const url = destination.url("/kept");
    destination.answers("/kept", always(200, "answered"));
    const gone = await briefly.published(url, {}, "gone");
    const kept = await longer.published(url, {}, "kept");
    await destination.arrivals("/kept", 2);

    const read = async (client: Client, id: string) =>
      (await client.get(`/v2/messages/${id}`)).object();
    const goneMs = 80_000;
    const withoutBody = await eventually(
      () => read(briefly, gone),
      (message) => !("body" in message),
      goneMs,
    );

    const endOf = ({ attempts }: Json) => numberOf(objectOf([attempts].flat()[0])["endedAt"]);
    expect(withoutBody["bodyKeptUntil"]).toBe(endOf(withoutBody));
    const withBody = await read(longer, kept);
    expect(withBody["body"]).toBe("kept");
    const answerOf = ({ attempts }: Json) => objectOf([attempts].flat()[0])["answerBody"];
    expect([answerOf(withoutBody), answerOf(withBody)]).toEqual([undefined, "answered"]);
    expect(withBody["bodyKeptUntil"]).toBe(endOf(withBody) + keepBodiesMs);
  }, 120_000);
});

describe("a plan with messagesPerDayMax", () => {
  it("429 has the headers of a daily limit, and nothing is published", async () => {
    const client = await operator.tenant("daily", { plan: { messagesPerDayMax: 3 } });
    const url = destination.url("/daily");
    const batch = (count: number) =>
      client.postJson("/v2/batch", Array(count).fill({ destination: url }));

    expect((await batch(2)).status).toBe(200);
    const refused = await batch(2);
    expect(refused.status).toBe(429);
    expect(refused.error()).toBe("quota maxMessagesPerDay exceeded, current limit: 3");
    expect(refused.headers).toMatchObject({
      "ratelimit-limit": "3",
      "ratelimit-remaining": "1",
      "ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
    await client.published(url);
    for (const prefix of ["Service-", "Upstash-"] as const) {
      const reply = await client.post(`/v2/publish/${url}`, inDialect(prefix, {}));
      expect([reply.status, reply.headers["ratelimit-remaining"]]).toEqual([429, "0"]);
    }
    await destination.arrivals("/daily", 3);
    expect(destination.at("/daily")).toHaveLength(3);
  });

  it("counts each endpoint of a group", async () => {
    const client = await operator.tenant("daily-group", { plan: { messagesPerDayMax: 3 } });
    const endpoints = [1, 2].map((n) => ({ url: destination.url(`/group-${n}`) }));
    await client.postJson("/v2/topics/two/endpoints", { endpoints });

    expect((await client.post("/v2/publish/two")).status).toBe(200);
    expect((await client.post("/v2/publish/two")).status).toBe(429);
    const inBatch = await client.postJson("/v2/batch", [{ destination: "two" }]);
    expect(inBatch.status).toBe(429);
  });
});

it("a duplicate counts as a message of the day, and a retried dead letter does not", async () => {
  const client = await operator.tenant("what-counts", { plan: { messagesPerDayMax: 2 } });
  destination.answers("/counted", always(500));
  const publish = () =>
    client.publish(
      destination.url("/counted"),
      service({ Retries: "0", "Deduplication-Id": "once" }),
    );
  const statuses = [await publish(), await publish(), await publish()].map(({ status }) => status);
  await client.until("/v2/dlq", "messages", hasLength(1));

  expect(statuses).toEqual([200, 202, 429]);
  expect((await client.post("/v2/dlq/retry")).list("responses")).toHaveLength(1);
});

describe("a plan with queuesMax", () => {
  const queuesOf = async (client: Client): Promise<readonly unknown[]> =>
    (await client.get("/v2/queues")).list().map(({ name }) => name);
  const refused = { status: 412, error: "quota maxQueues exceeded, current limit: 2" };
  const answered = (reply: Reply) => ({ status: reply.status, error: reply.error() });

  it("412 for one queue more, however it would be made, while existing queues continue", async () => {
    const client = await operator.tenant("queues", { plan: { queuesMax: 2 } });
    const url = destination.url("/in-queues");
    const queue = (queueName: string, more = {}) =>
      client.postJson("/v2/queues", { queueName, ...more });
    await client.post(`/v2/enqueue/a/${url}`);
    await queue("b");

    expect(answered(await queue("c"))).toEqual(refused);
    expect(answered(await client.post("/v2/queues/c/pause"))).toEqual(refused);
    expect(answered(await client.post(`/v2/enqueue/c/${url}`))).toEqual(refused);
    const inBatch = JSON.stringify(["a", "c"].map((name) => ({ destination: url, queue: name })));
    expect(answered(await client.post("/v2/batch", {}, inBatch))).toEqual({
      ...refused,
      error: `[1].queue: ${refused.error}`,
    });
    expect(await queuesOf(client)).toEqual(["a", "b"]);
    expect((await queue("b", { parallelism: 5 })).status).toBe(200);
    expect((await client.post(`/v2/enqueue/b/${url}`)).status).toBe(200);
  });

  it("412 for the retry of a dead letter whose queue was deleted, and the dead letter stays", async () => {
    const client = await operator.tenant("queues-of-letters", { plan: { queuesMax: 1 } });
    destination.answers("/fails-in-queue", always(500));
    const url = destination.url("/fails-in-queue");
    await client.post(`/v2/enqueue/a/${url}`, service({ Retries: "0" }));
    const [letter] = await client.until("/v2/dlq", "messages", hasLength(1));
    await client.delete("/v2/queues/a");
    await client.postJson("/v2/queues", { queueName: "b" });
    const error = "quota maxQueues exceeded, current limit: 1";

    const path = `/v2/dlq/retry/${textOf(letter?.["dlqId"])}`;
    expect(answered(await client.post(path))).toEqual({ status: 412, error });
    expect(answered(await client.post("/v2/dlq/retry"))).toEqual({ status: 412, error });
    expect(await queuesOf(client)).toEqual(["b"]);
    await client.delete("/v2/queues/b");
    expect((await client.post(path)).status).toBe(201);
    expect(await queuesOf(client)).toEqual(["a"]);
  });

  it("412 for a batch leaves no queue and spends no message", async () => {
    const client = await operator.tenant("queues-of-batch", {
      plan: { queuesMax: 2, messagesPerDayMax: 3 },
    });
    const item = (queue: string) => ({ destination: destination.url("/batched"), queue });
    const batch = (...queues: readonly string[]) => client.postJson("/v2/batch", queues.map(item));

    expect(answered(await batch("a", "b", "c"))).toEqual({
      ...refused,
      error: `[2].queue: ${refused.error}`,
    });
    expect(await queuesOf(client)).toEqual([]);
    expect((await batch("a", "b", "a")).status).toBe(200);
  });

  it("404 for an unknown group leaves no queue and spends no message", async () => {
    const client = await operator.tenant("queues-of-groups", { plan: { messagesPerDayMax: 1 } });
    const inBatch = JSON.stringify([{ destination: "nobody", queue: "a" }]);

    expect((await client.post("/v2/enqueue/a/nobody")).status).toBe(404);
    expect((await client.post("/v2/publish/nobody")).status).toBe(404);
    expect((await client.post("/v2/batch", {}, inBatch)).status).toBe(404);

    expect(await queuesOf(client)).toEqual([]);
    expect((await client.publish(destination.url("/the-one"))).status).toBe(200);
  });

  it("429 leaves no queue", async () => {
    const client = await operator.tenant("no-messages", { plan: { messagesPerDayMax: 0 } });

    expect((await client.post(`/v2/enqueue/a/${destination.url("/none")}`)).status).toBe(429);
    expect(await queuesOf(client)).toEqual([]);
  });
});

describe("a plan with batchBytesMax", () => {
  it("413 refuses a longer batch, and nothing of it is published", async () => {
    const client = await operator.tenant("short-batches", { plan: { batchBytesMax: 2_000 } });
    const item = { destination: destination.url("/short-batch"), body: "x".repeat(500) };
    const batch = (count: number) => client.postJson("/v2/batch", Array(count).fill(item));

    expect((await batch(4)).status).toBe(413);
    expect((await batch(3)).status).toBe(200);
    await destination.arrivals("/short-batch", 3);
    expect(destination.at("/short-batch")).toHaveLength(3);
  });
});

describe("a plan with groupsMax", () => {
  it("412 for one group more, and existing groups may be changed", async () => {
    const client = await operator.tenant("groups", { plan: { groupsMax: 1 } });
    const endpoints = JSON.stringify({ endpoints: [{ url: destination.url("/grouped") }] });
    const group = (name: string) => client.post(`/v2/topics/${name}/endpoints`, {}, endpoints);

    expect((await group("a")).status).toBe(200);
    const reply = await group("b");
    expect([reply.status, reply.error()]).toEqual([
      412,
      "quota maxTopics exceeded, current limit: 1",
    ]);
    expect((await group("a")).status).toBe(200);
  });
});

describe("a plan with schedulesMax", () => {
  it("412 for one schedule more, and existing schedules may be replaced", async () => {
    const client = await operator.tenant("schedules", { plan: { schedulesMax: 1 } });
    const schedule = (id: string) =>
      client.post(
        `/v2/schedules/${destination.url("/yearly")}`,
        service({ Cron: "0 0 1 1 *", "Schedule-Id": id }),
      );

    expect((await schedule("a")).status).toBe(200);
    const reply = await schedule("b");
    expect([reply.status, reply.error()]).toEqual([
      412,
      "quota maxSchedules exceeded, current limit: 1",
    ]);
    expect((await schedule("a")).status).toBe(200);
    expect((await client.get("/v2/schedules")).list()).toHaveLength(1);
  });
});

describe("a plan with listsPerSecondMax", () => {
  it("429 has the headers of a limit by the second, never those of a daily one", async () => {
    const client = await operator.tenant("lists", { plan: { listsPerSecondMax: 1 } });

    const replies = await eventually(
      () => Promise.all([1, 2, 3].map(() => client.get("/v2/queues"))),
      (all) => all.some(({ status }) => status === 429),
    );

    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.headers).toMatchObject({
      "burst-ratelimit-limit": "1",
      "burst-ratelimit-remaining": "0",
      "burst-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
    expect(refused?.headers).not.toHaveProperty("ratelimit-limit");
  });
});
