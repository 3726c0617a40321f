/** Tests the management API (docs/management.md): tenants, their plans and keys, and what each of its routes refuses. */
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { type Client, eventually, type Reply, equals } from "./client.ts";
import { service } from "./dialects.ts";
import { type Json, textOf } from "./json.ts";
import { freshNetwork, newTenant, operatorEnv, untilStatus } from "./operator.ts";
import { destination, operator, server, startBeforeTests } from "./suite.ts";
import { firstUser } from "./users.ts";

startBeforeTests({ env: operatorEnv });

const refusal = (reply: Reply) => ({ status: reply.status, error: reply.error() });

/** A service may see changed accounts five seconds late, and a delivery that finds no tenant is put off. */
const msMax = 60_000;

describe("a tenant", () => {
  const plan = {
    retriesDefault: 3,
    retriesMax: 1_000,
    delayMsMax: 31_536_000_000,
    timeoutMsDefault: 7_200_000,
    timeoutMsMax: 172_800_000,
    bodyBytesMax: 10_485_760,
    batchBytesMax: 33_554_432,
    responseBytesMax: 1_048_576,
    groupsMax: 10_000,
    groupEndpointsMax: 10_000,
    queuesMax: 10_000,
    queueParallelismMax: 1_000,
    schedulesMax: 1_000_000,
    parallelismMax: 1_000_000,
    messagesPerDayMax: 1_000_000_000,
    listsPerSecondMax: 200,
    logMs: 604_800_000,
    keepBodiesMs: 86_400_000,
    deadLetterMs: 604_800_000,
    backlogMax: 10_000_000,
  };

  it("is made with the default plan, listed and shown", async () => {
    const id = newTenant();
    const made = await operator.post("/v2/tenants", { id });
    const list = (await operator.get("/v2/tenants")).list();
    const one = await operator.get(`/v2/tenants/${id}`);

    expect(made.status).toBe(201);
    expect(made.object()).toEqual({ id, dialect: "service", plan });
    expect(one.object()).toEqual(made.object());
    expect(list).toContainEqual(made.object());
    expect(list.map((tenant) => tenant["id"])).toContain(firstUser.userId);
  });

  it("changes in the named fields, and keeps the others", async () => {
    const id = newTenant();
    await operator.post("/v2/tenants", { id, plan: { backlogMax: 5 } });

    const changed = await operator.patch(`/v2/tenants/${id}`, {
      dialect: "upstash",
      plan: { retriesMax: 7 },
    });
    const again = await operator.patch(`/v2/tenants/${id}`, {});

    const expected = { id, dialect: "upstash", plan: { ...plan, backlogMax: 5, retriesMax: 7 } };
    expect([changed.status, changed.object()]).toEqual([200, expected]);
    expect(again.object()).toEqual(expected);
  });

  it("is let in as soon as it has a token, and has its own messages, groups and keys", async () => {
    const id = newTenant();
    const client = await operator.tenant(id);

    const messageId = await client.published(destination.url(`/${id}`), {}, "hello");

    expect((await destination.arrival(`/${id}`, msMax)).body.toString()).toBe("hello");
    expect((await client.get(`/v2/messages/${messageId}`)).status).toBe(200);
    expect((await server.client.get(`/v2/messages/${messageId}`)).status).toBe(404);
    expect((await client.get("/v2/topics")).list()).toEqual([]);
  });

  it("gets deliveries in its own dialect when a publish does not name one", async () => {
    const client = await operator.tenant(newTenant(), { dialect: "upstash" });

    await client.published(destination.url("/dialect"));

    const { headers } = await destination.arrival("/dialect", msMax);
    expect(headers["upstash-message-id"]).toBeDefined();
  });

  it("that is closed is not let in, and its earlier messages are still delivered and signed", async () => {
    const id = newTenant();
    const client = await operator.tenant(id);
    const keys = (await operator.get(`/v2/tenants/${id}/keys`)).object();
    const reader = await operator.caller(id, "read");
    await client.published(destination.url(`/${id}`), service({ Delay: "12s" }));

    const closed = await operator.delete(`/v2/tenants/${id}`);
    await untilStatus(client, 401);
    await untilStatus(reader, 401);

    expect([closed.status, closed.text]).toEqual([200, ""]);
    const arrival = await destination.arrival(`/${id}`, msMax);
    expect(signatureKeyOf(arrival.headers["service-signature"], keys)).toBe("current");
  });

  it("that is closed gets no more events for its runs", async () => {
    const id = newTenant();
    const client = await operator.tenant(id);
    const path = `/${id}`;
    // An endpoint that accepts its run and never continues with it.
    const mark = { "Upstash-Workflow-Sdk-Version": "1", "Upstash-Workflow-Sdk": "v1.3.3" };
    destination.answers(path, (_, response) => response.writeHead(200, mark).end());
    const headers = { "Upstash-Workflow-RunId": `wfr_${id}` };
    await client.post(`/v2/trigger/${destination.url(path)}`, headers);
    await destination.arrival(path);
    const made = { stepId: 1, stepType: "CreateWebhook", out: '{"eventId":"event"}' };
    await client.publish(destination.url(path), headers, JSON.stringify(made));
    const hook = () =>
      fetch(`http://127.0.0.1:${server.port}/v2/workflows/hooks/${id}/wfr_${id}/event`, {
        method: "POST",
      });
    expect((await hook()).status).toBe(200);

    await operator.delete(`/v2/tenants/${id}`);

    // Runs are cancelled after half a minute. Webhooks are gone as soon as the gateway knows of the closing: 429 comes
    // in place of 404 where other suites have guessed ten addresses.
    await eventually(hook, ({ status }) => [404, 429].includes(status), 20_000);
  });

  it("that is closed is no longer listed, and no other tenant gets its id", async () => {
    const id = newTenant();
    await operator.post("/v2/tenants", { id });
    await operator.token(id);

    await operator.delete(`/v2/tenants/${id}`);

    const missing = { status: 404, error: `tenant ${id} not found` };
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", {}],
      ["DELETE", ""],
      ["GET", "/tokens"],
      ["POST", "/tokens", { scope: "full" }],
      ["DELETE", "/tokens/x"],
      ["GET", "/keys"],
      ["POST", "/keys/rotate"],
    ] as const)
      expect(refusal(await operator.call(method, `/v2/tenants/${id}${path}`, body))).toEqual(
        missing,
      );
    expect((await operator.get("/v2/tenants")).list().map((one) => one["id"])).not.toContain(id);
    expect(refusal(await operator.post("/v2/tenants", { id }))).toEqual({
      status: 409,
      error: `id: ${id} belongs to a tenant, which may be closed`,
    });
  });

  it("409 is the answer to closing it while it owns search indexes", async () => {
    const id = newTenant();
    const client = await operator.tenant(id);
    const index = await operator.post("/v2/search", {
      ...{ customer_id: id, name: "a", endpoint: "a.example", type: "free", region: "eu-west-1" },
    });

    const refused = await operator.delete(`/v2/tenants/${id}`);
    expect(refusal(refused)).toEqual({
      status: 409,
      error: `tenant ${id} owns search indexes: 1`,
    });
    expect((await client.get("/v2/keys")).status).toBe(200);

    await operator.delete(`/v2/search/${textOf(index.object()["id"])}`);
    expect((await operator.delete(`/v2/tenants/${id}`)).status).toBe(200);
  });
});

describe("a plan that changes", () => {
  const id = newTenant();
  const url = (): string => destination.url("/planned");
  const later = (settings = {}) => service({ Delay: "30s", ...settings });
  const change = (plan: object) => operator.patch(`/v2/tenants/${id}`, { plan });
  let client: Client;
  const endpoints = [1, 2].map((n) => ({ url: `http://127.0.0.1:9/${n}` }));
  const publish = (settings = {}, body = "") => client.publish(url(), later(settings), body);
  const asks: readonly (() => Promise<Reply>)[] = [
    () => publish({ Retries: "4" }),
    () => publish({ Delay: "2m" }),
    () => publish({ Timeout: "2m" }),
    () => client.postJson("/v2/topics/planned/endpoints", { endpoints }),
    () => publish({}, "x".repeat(101)),
  ];
  const answers = async () => {
    const replies = [];
    for (const ask of asks) replies.push(await ask());
    return replies.map((reply) => `${reply.status} ${reply.status === 412 ? reply.error() : ""}`);
  };
  const retriesByDefault = async () => {
    const message = textOf((await publish()).object()["messageId"]);
    return (await client.get(`/v2/messages/${message}`)).object()["maxRetries"];
  };
  /** The gateway looks every few seconds. */
  const untilAnswered = (status: number, ask = publish): Promise<Reply> =>
    eventually(ask, (reply) => reply.status === status, msMax);

  beforeAll(async () => {
    client = await operator.tenant(id);
  });

  it("holds at the gateway within seconds, for each of its bounds", async () => {
    expect(await answers()).toEqual(Array(asks.length).fill("200 "));
    expect(await retriesByDefault()).toBe(3);

    await change({
      ...{ retriesDefault: 1, retriesMax: 3, delayMsMax: 60_000, timeoutMsMax: 60_000 },
      ...{ bodyBytesMax: 100, groupEndpointsMax: 1 },
    });
    await untilAnswered(413, () => publish({}, "x".repeat(101)));

    const refused = expect.stringMatching(/^412 .*quota/);
    expect(await answers()).toEqual([refused, refused, refused, refused, "413 "]);
    expect((await publish({}, "x".repeat(100))).status).toBe(200);
    expect(await retriesByDefault()).toBe(1);
  });

  it("holds for the backlog, and is loosened again", async () => {
    await change({ backlogMax: 1 });
    expect((await untilAnswered(429)).error()).toContain("quota maxBacklog exceeded");

    await change({ backlogMax: 10_000_000 });
    await untilAnswered(200);
  });
});

describe("signing keys", () => {
  it("rotate: the next key becomes current, and deliveries are signed with it", async () => {
    const id = newTenant();
    const client = await operator.tenant(id);
    const before = (await operator.get(`/v2/tenants/${id}/keys`)).object();

    const rotated = await operator.post(`/v2/tenants/${id}/keys/rotate`);

    const after = rotated.object();
    expect(rotated.status).toBe(200);
    expect(after["current"]).toBe(before["next"]);
    expect([before["current"], before["next"]]).not.toContain(after["next"]);
    expect((await operator.get(`/v2/tenants/${id}/keys`)).object()).toEqual(after);
    await eventually(async () => (await client.get("/v2/keys")).text, equals(rotated.text), msMax);
    let count = 0;
    const signedWith = async () => {
      const path = `/${id}/${count++}`;
      await client.published(destination.url(path));
      const { headers } = await destination.arrival(path, msMax);
      return signatureKeyOf(headers["service-signature"], after);
    };
    expect(await eventually(signedWith, equals("current"), msMax)).toBe("current");
  });
});

describe("management", () => {
  it("forbids caches to keep any answer", async () => {
    for (const path of ["/v2/search", "/v2/tenants", `/v2/tenants/${firstUser.userId}/keys`])
      expect((await operator.get(path)).headers["cache-control"]).toBe("no-store");
  });

  it("404 for an unknown endpoint, and for each of the gateway's", async () => {
    for (const path of [
      "/",
      "/v2",
      "/v2/keys",
      "/v2/messages/x",
      "/v2/tenants/a/b",
      "/v2/search/a/b",
    ])
      expect(refusal(await operator.get(path))).toEqual({ status: 404, error: "no such endpoint" });
  });

  it("404 at the gateway for each endpoint of management", async () => {
    for (const path of ["/v2/search", "/v2/tenants", `/v2/tenants/${firstUser.userId}/tokens`])
      expect((await server.client.get(path)).status).toBe(404);
  });

  it("405 names the allowed methods", async () => {
    const reply = await operator.call("PUT", "/v2/search");

    expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET, POST"]);
  });

  it("413 for a body above its small limit", async () => {
    const reply = await operator.post("/v2/tenants", { id: "a", dialect: "x".repeat(70_000) });

    expect(reply.status).toBe(413);
  });

  it("403 for a page of another origin in the operator's browser, which cannot lock the operator out either", async () => {
    const network = freshNetwork();
    const from = (site: string) =>
      operator.call("POST", `/v2/tenants/${firstUser.userId}/keys/rotate`, undefined, {
        "sec-fetch-site": site,
      });
    for (let i = 0; i < 30; i++) {
      const image = { ...network, "sec-fetch-site": "cross-site", authorization: "Basic Og==" };
      expect((await operator.call("GET", "/v2/tenants", undefined, image)).status).toBe(403);
    }
    const guess = { ...network, authorization: "Basic Og==" };
    expect((await operator.call("GET", "/v2/tenants", undefined, guess)).status).toBe(401);

    for (const site of ["cross-site", "same-site"])
      expect(refusal(await from(site))).toEqual({
        status: 403,
        error: "a page of another origin may not call this",
      });
    expect((await server.client.get("/v2/keys")).object()).toEqual(firstUser.keys);
  });

  it("429 after ten wrong passwords in a minute, except for the right password", async () => {
    const from = freshNetwork();
    const guess = { ...from, authorization: "Basic b3BlcmF0b3I6Z3Vlc3M=" };
    for (let i = 0; i < 10; i++)
      expect((await operator.call("GET", "/v2/tenants", undefined, guess)).status).toBe(401);

    const eleventh = await operator.call("GET", "/v2/tenants", undefined, guess);

    expect(eleventh.status).toBe(429);
    expect(Number(eleventh.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect((await operator.call("GET", "/v2/tenants", undefined, from)).status).toBe(200);
  });

  it("logs no secret", async () => {
    const id = newTenant();
    const token = await operator.token(firstUser.userId);
    await operator.post("/v2/tenants", { id });
    const keys = (await operator.post(`/v2/tenants/${id}/keys/rotate`)).object();

    for (const secret of [token, textOf(keys["current"]), textOf(keys["next"]), "the:password"])
      expect(server.output()).not.toContain(secret);
  });
});

function signatureKeyOf(header: unknown, keys: Json): string | undefined {
  const [head = "", claims = "", signature = ""] = textOf(header).split(".");
  return ["current", "next"].find((name) => {
    const key = textOf(keys[name]);
    const made = createHmac("sha256", key).update(`${head}.${claims}`).digest("base64url");
    return made === signature;
  });
}
