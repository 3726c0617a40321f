/** Tests the register of search indexes (docs/management.md). */
import { describe, expect, it } from "@jest/globals";
import { type Reply } from "./client.ts";
import { type Json, textOf } from "./json.ts";
import { operatorEnv } from "./operator.ts";
import { operator, startBeforeTests } from "./suite.ts";
import { firstUser } from "./users.ts";

startBeforeTests({ env: operatorEnv });

const refusal = (reply: Reply) => ({ status: reply.status, error: reply.error() });

describe("a search index", () => {
  const wanted = {
    customer_id: firstUser.userId,
    name: "articles",
    endpoint: "https://articles.search.example",
    type: "payg",
    region: "eu-west-1",
  };
  const enter = async (more = {}): Promise<Json> =>
    (await operator.post("/v2/search", { ...wanted, ...more })).object();
  const listed = async () => (await operator.get("/v2/search")).list();

  it("has every field of the interface, in the list and by itself", async () => {
    const secondsBefore = Math.floor(Date.now() / 1_000);
    const entered = await operator.post("/v2/search", wanted);
    const index = entered.object();
    const list = await listed();
    const one = await operator.get(`/v2/search/${textOf(index["id"])}`);

    expect(entered.status).toBe(201);
    expect(index).toEqual({
      customer_id: firstUser.userId,
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      name: "articles",
      endpoint: "https://articles.search.example",
      type: "payg",
      region: "eu-west-1",
      partner_email: "",
      token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      read_only_token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      max_vector_count: 2_000_000_000,
      max_monthly_reranks: -1,
      max_daily_updates: -1,
      max_daily_queries: -1,
      max_monthly_bandwidth: -1,
      max_writes_per_second: 1_000,
      max_query_per_second: 1_000,
      max_reads_per_request: 1_000,
      max_writes_per_request: 1_000,
      creation_time: expect.any(Number),
      input_enrichment_enabled: false,
      throughput_vector: [],
    });
    expect(index["token"]).not.toBe(index["read_only_token"]);
    expect(index["creation_time"]).toBeGreaterThanOrEqual(secondsBefore - 60);
    expect(index["creation_time"]).toBeLessThanOrEqual(Date.now() / 1_000 + 60);
    expect(list).toContainEqual(index);
    expect(one.object()).toEqual(index);
  });

  it("keeps the given fields, of all types and regions", async () => {
    const given = {
      type: "fixed",
      region: "us-central1",
      partner_email: "partner@example.com",
      max_vector_count: 1,
      max_monthly_reranks: 2,
      max_daily_updates: 3,
      max_daily_queries: 4,
      max_monthly_bandwidth: 5,
      max_writes_per_second: 6,
      max_query_per_second: 7,
      max_reads_per_request: 8,
      max_writes_per_request: 9,
      input_enrichment_enabled: true,
    };

    expect(await enter(given)).toMatchObject(given);
    expect(await enter({ type: "free" })).toMatchObject({
      type: "free",
      max_vector_count: 200_000,
      max_monthly_reranks: 1_000,
      max_daily_updates: 10_000,
      max_daily_queries: 10_000,
      max_monthly_bandwidth: 53_687_091_200,
    });
  });

  it("gets new tokens, and no other field changes", async () => {
    const before = await enter();

    const rotated = await operator.post(`/v2/search/${textOf(before["id"])}/rotate`);

    const after = rotated.object();
    const tokens = [before, after].flatMap((index) => [index["token"], index["read_only_token"]]);
    expect(rotated.status).toBe(200);
    expect(new Set(tokens).size).toBe(4);
    expect(after).toEqual({
      ...before,
      token: after["token"],
      read_only_token: after["read_only_token"],
    });
    expect(await listed()).toContainEqual(after);
  });

  it("shows the reported throughput, the newest hundred", async () => {
    const path = `/v2/search/${textOf((await enter())["id"])}`;
    for (let y = 0; y < 102; y++) await operator.post(`${path}/throughput`, { y: y + 0.5 });

    const { throughput_vector: samples } = (await operator.get(path)).object();

    expect(samples).toHaveLength(100);
    expect(samples).toEqual(
      Array.from({ length: 100 }, (_, i) => ({
        x: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        y: i + 2.5,
      })),
    );
  });

  it("no longer exists after its removal", async () => {
    const path = `/v2/search/${textOf((await enter())["id"])}`;

    const removed = await operator.delete(path);

    expect(removed.status).toBe(200);
    const refused = { status: 404, error: "search index not found" };
    expect(refusal(await operator.get(path))).toEqual(refused);
    expect(refusal(await operator.delete(path))).toEqual(refused);
    expect(refusal(await operator.post(`${path}/rotate`))).toEqual(refused);
    expect(refusal(await operator.post(`${path}/throughput`, { y: 1 }))).toEqual(refused);
    expect((await listed()).map(({ id }) => `/v2/search/${textOf(id)}`)).not.toContain(path);
  });

  it.each([
    [{ customer_id: "nobody" }, "customer_id: tenant nobody not found"],
    [{ max_query_per_seconds: 1 }, /^body: unknown field "max_query_per_seconds"; known names:/],
  ])("400 is the answer to %j, with the name of the field", async (changed, text) => {
    const reply = await operator.post("/v2/search", { ...wanted, ...changed });

    expect(reply.status).toBe(400);
    expect(reply.error()).toMatch(text);
  });
});
