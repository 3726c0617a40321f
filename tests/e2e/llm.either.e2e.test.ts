/** Tests the destination `api/llm`: the operator's provider, and its key, which only the provider sees (docs/llm.md). */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type Client, eventually, hasLength } from "./client.ts";
import { always, Destination } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { textOf } from "./json.ts";
import { startServer, type TestServer } from "./server.ts";

const key = "sk-of-the-operator-which-is-secret";
const question = (content: string) =>
  JSON.stringify({ model: "m", messages: [{ role: "user", content }] });

let server: TestServer;
let client: Client;
let provider: Destination;

beforeAll(async () => {
  provider = await Destination.start();
  const env = {
    POSTHASTE_LLM_URL: provider.url("/v1/chat/completions"),
    POSTHASTE_LLM_KEY: key,
  };
  server = await startServer({ env });
  client = server.client;
});
afterAll(async () => {
  await provider.stop();
  await server.stop();
});

const asked = (label: string, headers: Record<string, string> = {}) =>
  client.post(
    "/v2/publish/api/llm",
    service({ Callback: provider.url(`/answer/${label}`), Retries: "0", Label: label, ...headers }),
    question(label),
  );

const arrivalOf = (label: string) =>
  eventually(
    async () =>
      provider.at("/v1/chat/completions").find(({ body }) => body.toString() === question(label)),
    (found) => found !== undefined,
  );

describe("a message to api/llm", () => {
  it.each(dialects)(
    "goes to the provider with its key, and its answer to the callback ($prefix)",
    async ({ prefix }) => {
      const label = `plain-${prefix}`;
      const headers = inDialect(prefix, {
        Callback: provider.url(`/answer/${label}`),
        Label: label,
      });

      const reply = await client.post("/v2/publish/api/llm", headers, question(label));

      expect(reply.status).toBe(200);
      const arrival = await arrivalOf(label);
      expect(arrival?.headers["authorization"]).toBe(`Bearer ${key}`);
      expect(arrival?.body.toString()).toBe(question(label));
      const answer = await provider.arrival(`/answer/${label}`);
      expect(answer.body.toString()).not.toContain(key);
      expect(JSON.stringify(answer.headers)).not.toContain(key);
    },
  );

  it("goes with the key that the caller forwards, if any", async () => {
    await asked("own", { "Forward-Authorization": "Bearer own" });

    expect((await arrivalOf("own"))?.headers["authorization"]).toBe("Bearer own");
  });

  it("may be an item of a batch, and be in a queue", async () => {
    const item = (label: string, more: object) => ({
      destination: "api/llm",
      headers: service({ Callback: provider.url(`/answer/${label}`), Label: label }),
      body: question(label),
      ...more,
    });

    const reply = await client.postJson("/v2/batch", [item("b1", {}), item("b2", { queue: "q" })]);

    expect(reply.status).toBe(200);
    expect((await arrivalOf("b1"))?.headers["authorization"]).toBe(`Bearer ${key}`);
    expect((await arrivalOf("b2"))?.headers["authorization"]).toBe(`Bearer ${key}`);
  });

  it("shows its key nowhere in its record, log or dead letter, and its retry goes to the provider again", async () => {
    provider.answers("/v1/chat/completions", always(500));
    const id = textOf((await asked("failing")).object()["messageId"]);
    const [letter] = await client.until("/v2/dlq?label=failing", "messages", hasLength(1));

    const log = await client.get(`/v2/logs?messageId=${id}`);
    const read = await client.get(`/v2/dlq/${textOf(letter?.["dlqId"])}`);
    for (const reply of [log, read, await client.get(`/v2/messages/${id}`)])
      expect(reply.text).not.toContain(key);
    expect(read.object()).toMatchObject({ api: "llm", url: provider.url("/v1/chat/completions") });
    provider.answers("/v1/chat/completions", always(200));
    const before = provider.at("/v1/chat/completions").length;
    await client.post(`/v2/dlq/retry/${textOf(letter?.["dlqId"])}`);
    const again = (await provider.arrivals("/v1/chat/completions", before + 1)).at(-1);
    expect(again?.headers["authorization"]).toBe(`Bearer ${key}`);
  });

  it("400 for a message without a callback", async () => {
    const reply = await client.post("/v2/publish/api/llm", {}, question("none"));

    expect([reply.status, reply.error()]).toEqual([
      400,
      "Service-Callback: must be given: it receives the answers of api/llm",
    ]);
  });
});

it("a message to the provider's own URL gets no key", async () => {
  const url = provider.url("/v1/chat/completions");
  await client.published(url, {}, question("direct"));

  expect((await arrivalOf("direct"))?.headers).not.toHaveProperty("authorization");
});

it("the gateway has no chat endpoint and answers 404", async () => {
  const reply = await client.post("/llm/v1/chat/completions", {}, question("chat"));

  expect([reply.status, reply.error()]).toEqual([404, "no such endpoint"]);
});
