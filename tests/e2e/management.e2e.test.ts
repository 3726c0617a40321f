/** Tests the management API (docs/management.md): every route, its refusals, and its effects at the gateway. */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { managementEndpoints } from "@posthaste/contract";
import { rolesFor } from "@posthaste/domain";
import { Client, eventually, type Reply } from "./client.ts";
import { Destination } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, objectOf, textOf } from "./json.ts";
import {
  basic,
  freshNetwork,
  Operator,
  operatorEnv,
  operatorPassword,
  operatorUser,
  otherPasswords,
  untilStatus,
} from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { begin, enter, leave, type PageSession } from "./session.ts";
import { startServer, type TestServer } from "./server.ts";
import { firstUser } from "./users.ts";

let server: TestServer;
let operator: Operator;
let destination: Destination;

beforeAll(async () => {
  server = await startServer({ env: operatorEnv });
  operator = new Operator(server);
  destination = await Destination.start();
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

/** A service may see changed accounts five seconds late, and a delivery that finds no tenant is put off. */
const msMax = 60_000;

const refusal = (reply: Reply) => ({ status: reply.status, error: reply.error() });

let names = 0;
const newName = (): string => `tenant-${++names}`;

describe("a session of the operator's console", () => {
  const anonymous = () => new Client(server.managementPort, null);
  const authorization = basic(operatorUser, operatorPassword);

  it("has the operator's rights until it ends by signing out, and causes no password dialog of the browser", async () => {
    const [one, other] = [
      await begin(anonymous(), authorization),
      await begin(anonymous(), authorization),
    ];
    const name = newName();
    const made = await anonymous().call("POST", "/v2/tenants", one, `{"id":"${name}"}`);
    await leave(anonymous(), one);
    const [gone, there] = [
      await anonymous().get("/v2/tenants", one),
      await anonymous().get("/v2/tenants", other),
    ];

    expect([made.status, gone.status, there.status]).toEqual([201, 401, 200]);
    expect(gone.headers["www-authenticate"]).toBe("Session");
    expect((await enter(anonymous(), one)).object()).toEqual({});
  });

  it("begins with the password alone, gives no rights at the gateway, and a tenant's session gives none here", async () => {
    const gateway = new Client(server.port, null);
    const own = await begin(anonymous(), authorization);
    const tenants = await begin(gateway, `Bearer ${developmentToken}`);
    const wrong = { authorization: basic(operatorUser, "wrong"), ...freshNetwork() };
    const refused = await enter(anonymous(), { ...own, ...wrong });
    const renamed = (session: PageSession, name: string): PageSession => ({
      ...session,
      cookie: session.cookie.replace(/^[^=]*/, name),
    });

    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Session"]);
    expect((await gateway.get("/v2/me", renamed(own, "posthaste-session"))).status).toBe(401);
    const asOperator = renamed(tenants, "posthaste-operator-session");
    expect((await anonymous().get("/v2/tenants", asOperator)).status).toBe(401);
  });

  it("403 is the answer to a page of another origin, and 401 to a request without the header of the page", async () => {
    const session = await begin(anonymous(), authorization);
    const { cookie } = session;

    const site = { ...session, "sec-fetch-site": "same-site" };
    expect((await anonymous().call("POST", "/v2/tenants", site, "{}")).status).toBe(403);
    expect((await anonymous().call("POST", "/v2/tenants", { cookie }, "{}")).status).toBe(401);
  });
});

describe("the role of an operator", () => {
  const anonymous = () => new Client(server.managementPort, null);
  const passwords = { admin: operatorPassword, ...otherPasswords };
  const users = { operator: "on-call", viewer: "auditor" } as const;
  const by = (role: "operator" | "viewer") => basic(users[role], passwords[users[role]]);

  it.each(["operator", "viewer"] as const)(
    "403 bounds %s to what the table of endpoints allows, by password and in a session",
    async (role) => {
      const session = await begin(anonymous(), by(role));
      for (const [operation, { kind, method, path }] of Object.entries(managementEndpoints)) {
        const url = path.replaceAll(/\{\w+\}/g, "none");
        const mayDo = rolesFor({ kind }).includes(role);
        for (const headers of [{ authorization: by(role) }, session]) {
          const reply = await anonymous().call(method.toUpperCase(), url, headers, "{}");

          expect({ operation, isRefused: reply.status === 403 }).toEqual({
            operation,
            isRefused: !mayDo,
          });
          if (!mayDo)
            expect(reply.error()).toMatch(
              new RegExp(`^this needs the role admin( or operator)?; this operator is ${role}$`),
            );
        }
      }
    },
  );

  it("is shown to the console at sign-in, and stands in the audit log with signing in and out", async () => {
    const begun = await enter(anonymous(), { authorization: by("viewer") });
    const cookie = String(begun.headers["set-cookie"]).split(";", 1)[0] ?? "";
    const page = { cookie, "posthaste-session": textOf(begun.object()["session"]) };
    const again = await enter(anonymous(), { cookie });
    await leave(anonymous(), page);
    await leave(anonymous(), page);
    const changes = (await operator.get("/v2/audit/all?count=1000")).list("changes");
    const ofAuditor = changes.filter(({ by }) => objectOf(by)["id"] === "auditor");

    expect([begun, again].map((reply) => reply.object()["role"])).toEqual(["viewer", "viewer"]);
    const entry = {
      by: { kind: "operator", id: "auditor", role: "viewer", session: expect.any(String) },
      resource: "/console/session",
      result: "done",
    };
    expect(ofAuditor.slice(0, 2)).toMatchObject([
      { ...entry, operation: "signOut" },
      { ...entry, operation: "signIn" },
    ]);
  });

  it("403 is never the answer to a wrong password, and each password is for its own user alone", async () => {
    const mixed = basic("auditor", otherPasswords["on-call"]);
    const headers = { authorization: mixed, ...freshNetwork() };

    expect((await anonymous().get("/v2/tenants", headers)).status).toBe(401);
  });
});

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

  it("stands in the list in the order of entry", async () => {
    const ids: unknown[] = [];
    // One a millisecond, so that the order of ids does not decide.
    for (let i = 0; i < 3; i++) {
      ids.push((await enter())["id"]);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }

    const found = (await listed()).map(({ id }) => id);

    expect(found.filter((id) => ids.includes(id))).toEqual(ids);
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

  it("is gone after its removal", async () => {
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
    const id = newName();
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
    const id = newName();
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
    const id = newName();
    const client = await operator.tenant(id);

    const messageId = await client.published(destination.url(`/${id}`), {}, "hello");

    expect((await destination.arrival(`/${id}`, msMax)).body.toString()).toBe("hello");
    expect((await client.get(`/v2/messages/${messageId}`)).status).toBe(200);
    expect((await server.client.get(`/v2/messages/${messageId}`)).status).toBe(404);
    expect((await client.get("/v2/topics")).list()).toEqual([]);
  });

  it("gets deliveries in its own dialect when a publish does not name one", async () => {
    const client = await operator.tenant(newName(), { dialect: "upstash" });

    await client.published(destination.url("/dialect"));

    const { headers } = await destination.arrival("/dialect", msMax);
    expect(headers["upstash-message-id"]).toBeDefined();
  });

  it("that is closed is not let in, and its earlier messages are still delivered and signed", async () => {
    const id = newName();
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
    const id = newName();
    const client = await operator.tenant(id);
    const path = `/${id}`;
    // An endpoint that accepts its run and never goes on with it.
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

    // Runs are cancelled after half a minute. Webhooks are gone as soon as the gateway knows of the closing.
    await eventually(hook, ({ status }) => status === 404, 20_000);
  });

  it("that is closed is no longer listed, and no other tenant gets its id", async () => {
    const id = newName();
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

  it("409 is the answer to a second tenant of the same id", async () => {
    const reply = await operator.post("/v2/tenants", { id: firstUser.userId });

    expect(refusal(reply)).toEqual({
      status: 409,
      error: `id: ${firstUser.userId} belongs to a tenant, which may be closed`,
    });
  });

  it("409 is the answer to closing it while it owns search indexes", async () => {
    const id = newName();
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

describe("a plan holds at the gateway", () => {
  let client: Client;
  const id = "planned";
  const url = (): string => destination.url("/planned");
  const change = (plan: object) => operator.patch(`/v2/tenants/${id}`, { plan });
  /** The gateway looks every few seconds. */
  const untilRefused = (ask: () => Promise<Reply>, status: number): Promise<Reply> =>
    eventually(ask, (reply) => reply.status === status, msMax);

  beforeAll(async () => {
    client = await operator.tenant(id);
  });

  it.each([
    ["retriesMax", { retriesMax: 3 }, { Retries: "4" }, 412],
    ["delayMsMax", { delayMsMax: 60_000 }, { Delay: "2m" }, 412],
    ["timeoutMsMax", { timeoutMsMax: 60_000 }, { Timeout: "2m" }, 412],
  ])("412 within seconds: %s", async (_, plan, settings, status) => {
    const ask = () => client.publish(url(), service({ Delay: "30s", ...settings }));
    expect((await ask()).status).toBe(200);

    await change(plan);

    expect((await untilRefused(ask, status)).error()).toContain("quota");
  });

  it("413 within seconds: bodyBytesMax", async () => {
    const ask = () => client.publish(url(), service({ Delay: "30s" }), "x".repeat(101));
    expect((await ask()).status).toBe(200);

    await change({ bodyBytesMax: 100 });

    await untilRefused(ask, 413);
    expect((await client.publish(url(), service({ Delay: "30s" }), "x".repeat(100))).status).toBe(
      200,
    );
  });

  it("412 within seconds: groupEndpointsMax", async () => {
    const endpoints = [1, 2].map((n) => ({ url: destination.url(`/${n}`) }));
    const ask = () =>
      client.post("/v2/topics/planned/endpoints", {}, JSON.stringify({ endpoints }));
    expect((await ask()).status).toBe(200);

    await change({ groupEndpointsMax: 1 });

    expect((await untilRefused(ask, 412)).error()).toContain("quota");
  });

  it("429 within seconds: backlogMax", async () => {
    const ask = () => client.publish(url(), service({ Delay: "30s" }));
    expect((await ask()).status).toBe(200);

    await change({ backlogMax: 1 });

    expect((await untilRefused(ask, 429)).error()).toContain("quota maxBacklog exceeded");
  });

  it("within seconds when it is loosened", async () => {
    await change({ backlogMax: 10_000_000, bodyBytesMax: 10_485_760 });

    await untilRefused(
      () => client.publish(url(), service({ Delay: "30s" }), "x".repeat(101)),
      200,
    );
  });

  it("with retriesDefault, for publishes without a number of retries", async () => {
    const read = async () => {
      const message = await client.published(url(), service({ Delay: "30s" }));
      return (await client.get(`/v2/messages/${message}`)).object()["maxRetries"];
    };
    expect(await read()).toBe(3);

    await change({ retriesDefault: 1 });

    expect(await eventually(read, (retries) => retries === 1, msMax)).toBe(1);
  });
});

describe("a token", () => {
  it("is shown when it is made, and never again", async () => {
    const id = newName();
    await operator.post("/v2/tenants", { id });

    const made = await operator.post(`/v2/tenants/${id}/tokens`, { scope: "read" });
    const list = await operator.get(`/v2/tenants/${id}/tokens`);

    const token = made.object();
    expect(made.status).toBe(201);
    expect(token).toEqual({
      id: expect.stringMatching(/^tok_[\w-]{16}$/),
      scope: "read",
      createdAt: expect.any(Number),
      token: expect.stringMatching(/^[0-9A-Za-z+/]{60,}=*$/),
    });
    const { token: text, ...rest } = token;
    expect(list.list()).toEqual([rest]);
    expect(list.text).not.toContain(textOf(text));
  });

  it("with the scope operate reads and acts, and neither makes nor removes anything", async () => {
    const id = newName();
    const full = await operator.tenant(id);
    const onCall = await operator.caller(id, "operate");
    await full.post("/v2/queues", {}, '{"queueName":"q","parallelism":1}');

    expect((await onCall.post("/v2/queues/q/pause")).status).toBe(200);
    expect((await onCall.get("/v2/queues/q")).object()).toMatchObject({ paused: true });
    expect(refusal(await onCall.call("DELETE", "/v2/queues/q", {}))).toEqual({
      status: 403,
      error: "this needs a token of scope full or queue:q; the scope of this token is operate",
    });
    expect((await onCall.publish(destination.url("/refused"))).status).toBe(403);
    expect((await onCall.get("/v2/keys")).status).toBe(403);
  });

  it("with the scope publish publishes, and reads nothing except /v2/me", async () => {
    const id = newName();
    const full = await operator.tenant(id);
    const publisher = await operator.caller(id, "publish");

    const published = await publisher.publish(destination.url("/by-publisher"));
    const read = await publisher.get(`/v2/messages/${textOf(published.object()["messageId"])}`);

    expect(published.status).toBe(200);
    expect(refusal(read)).toEqual({
      status: 403,
      error:
        "this needs a token of scope full or operate or read; the scope of this token is publish",
    });
    expect((await publisher.post("/v2/queues", {}, '{"queueName":"q"}')).status).toBe(403);
    expect((await publisher.post(`/v2/schedules/${destination.url("/")}`)).status).toBe(403);
    expect((await publisher.get("/v2/me")).object()).toMatchObject({ scope: "publish" });
    expect((await full.get("/v2/schedules")).list()).toEqual([]);
  });

  it("of one queue manages and fills that queue, and no other", async () => {
    const id = newName();
    await operator.tenant(id);
    const owner = await operator.caller(id, "queue:mine");
    const enqueue = (queue: string) =>
      owner.post(`/v2/enqueue/${queue}/${destination.url("/of-queue")}`);

    expect((await enqueue("mine")).status).toBe(200);
    for (const path of ["mine/pause", "mine/resume"])
      expect((await owner.post(`/v2/queues/${path}`)).status).toBe(200);
    expect((await owner.get("/v2/queues/mine")).status).toBe(200);

    for (const other of ["theirs", "Mine", "mine2"])
      expect(refusal(await enqueue(other))).toEqual({
        status: 403,
        error: `this needs a token of scope full or publish or queue:${other}; the scope of this token is queue:mine`,
      });
    expect((await owner.post("/v2/queues/theirs/pause")).status).toBe(403);
    expect((await owner.get("/v2/queues")).status).toBe(403);
    expect((await owner.publish(destination.url("/"))).status).toBe(403);
  });

  it("that expires shows its expiry in the list, and in the refusal afterwards", async () => {
    const id = newName();
    await operator.tenant(id);
    const expiresAt = Date.now() + 2_000;
    const token = await operator.token(id, "read", { name: "brief", expiresAt });
    const brief = new Client(server.port, token);
    await untilStatus(brief, 401);

    expect((await brief.get("/v2/me")).error()).toBe(
      `the token expired at ${new Date(expiresAt).toISOString()}`,
    );
    expect((await operator.get(`/v2/tenants/${id}/tokens`)).list()).toMatchObject([
      { scope: "full" },
      { scope: "read", name: "brief", expiresAt },
    ]);
  });

  it("that is revoked is refused within seconds, and the others are not", async () => {
    const id = newName();
    const stays = await operator.tenant(id);
    const goes = await operator.caller(id);
    const tokens = (await operator.get(`/v2/tenants/${id}/tokens`)).list();
    const path = `/v2/tenants/${id}/tokens/${textOf(tokens[1]?.["id"])}`;

    const revoked = await operator.delete(path);
    await untilStatus(goes, 401);

    expect(revoked.status).toBe(200);
    expect((await stays.get("/v2/keys")).status).toBe(200);
    // The latest use of the token may be known by now.
    expect((await operator.get(`/v2/tenants/${id}/tokens`)).list()).toMatchObject([
      tokens[0] ?? {},
    ]);
    expect(refusal(await operator.delete(path))).toEqual({ status: 404, error: "token not found" });
  });

  it("that is revoked ends the console sessions that began with it", async () => {
    const name = newName();
    const caller = await operator.tenant(name);
    const token = await operator.token(name);
    const anonymous = new Client(server.port, null);
    await untilStatus(new Client(server.port, token), 200);
    const session = await begin(anonymous, `Bearer ${token}`);
    const before = await anonymous.get("/v2/me", session);
    const tokens = (await operator.get(`/v2/tenants/${name}/tokens`)).list();
    await operator.delete(`/v2/tenants/${name}/tokens/${textOf(tokens[1]?.["id"])}`);

    const after = await eventually(
      () => anonymous.get("/v2/me", session),
      ({ status }) => status === 401,
    );

    expect([before.status, after.error()]).toEqual([200, "the session has ended: sign in again"]);
    expect((await caller.get("/v2/me")).status).toBe(200);
  });

  it("404 is the answer to revoking it in the name of another tenant", async () => {
    const [mine, theirs] = [newName(), newName()];
    await operator.post("/v2/tenants", { id: mine });
    const client = await operator.tenant(theirs);
    const [token] = (await operator.get(`/v2/tenants/${theirs}/tokens`)).list();

    const reply = await operator.delete(`/v2/tenants/${mine}/tokens/${textOf(token?.["id"])}`);

    expect(refusal(reply)).toEqual({ status: 404, error: "token not found" });
    expect((await client.get("/v2/keys")).status).toBe(200);
  });

  it.each([
    [{}, "scope: must be full, operate, read, publish or queue:NAME"],
    [{ scope: "queue:" }, "scope: must be full, operate, read, publish or queue:NAME"],
    [
      { scope: "full", token: "mine" },
      'body: unknown field "token"; known names: scope, name, expiresAt',
    ],
    [{ scope: "full", expiresAt: 1 }, "expiresAt: must be in the future, in Unix milliseconds"],
  ])("400 is the answer to making one of %j", async (body, error) => {
    const reply = await operator.post(`/v2/tenants/${firstUser.userId}/tokens`, body);

    expect(refusal(reply)).toEqual({ status: 400, error });
  });

  it("412 is the answer to making one beside a hundred others", async () => {
    const id = newName();
    await operator.post("/v2/tenants", { id });
    for (let i = 0; i < 100; i++) await operator.token(id);

    const reply = await operator.post(`/v2/tenants/${id}/tokens`, { scope: "full" });

    expect(refusal(reply)).toEqual({ status: 412, error: "a tenant may have at most 100 tokens" });
  });
});

describe("the audit log", () => {
  const changesOf = async (reply: Promise<Reply>) => (await reply).list("changes");

  it("lists each change by token, session or operator, latest first, and no body", async () => {
    const id = newName();
    const caller = await operator.tenant(id);
    const anonymous = new Client(server.port, null);
    const token = await operator.token(id, "full", { name: "shop" });
    await untilStatus(new Client(server.port, token), 200);
    const session = await begin(anonymous, `Bearer ${token}`);
    const network = { "x-forwarded-for": "203.0.113.7" };
    await caller.post("/v2/queues", network, '{"queueName":"mail","parallelism":2}');
    await anonymous.post("/v2/queues/mail/pause", { ...session, ...network });
    await caller.call("DELETE", "/v2/queues/none?dryRun=true", network);
    await caller.call("DELETE", "/v2/dlq/none", network);
    const schedule = { "service-cron": "0 0 1 1 *", "service-schedule-id": "yearly" };
    await caller.post(`/v2/schedules/${destination.url("/?secret=x")}`, {
      ...schedule,
      ...network,
    });
    const dryRun = { "service-cron": "0 0 1 1 *", "service-dry-run": "true" };
    await caller.post(`/v2/schedules/${destination.url("/")}`, { ...dryRun, ...network });
    await caller.publish(destination.url("/no-change"));
    await operator.patch(`/v2/tenants/${id}`, { plan: { retriesMax: 9 } });

    const own = await caller.get("/v2/audit");
    const all = await operator.get(`/v2/audit/all?tenant=${id}`);

    const byToken = { kind: "token", id: expect.stringMatching(/^tok_/) };
    const seen = { tenant: id, result: "done", address: "203.0.113.7" };
    const ofOperator = {
      tenant: id,
      by: { kind: "operator", id: operatorUser, role: "admin" },
      result: "done",
    };
    const expected = [
      { ...ofOperator, operation: "changeTenant", resource: `/v2/tenants/${id}` },
      { ...seen, by: byToken, operation: "createSchedule", resource: "/v2/schedules/yearly" },
      {
        ...{ ...seen, by: byToken, operation: "removeDeadLetter", resource: "/v2/dlq/none" },
        result: "not_found",
      },
      {
        ...{ ...seen, operation: "pauseQueue", resource: "/v2/queues/mail/pause" },
        by: { ...byToken, name: "shop", session: expect.stringMatching(/^.{8}$/) },
      },
      { ...seen, by: byToken, operation: "upsertQueue", resource: "/v2/queues/mail" },
      {
        ...{ tenant: id, result: "done", operation: "signIn", resource: "/console/session" },
        by: { ...byToken, name: "shop", session: expect.stringMatching(/^.{8}$/) },
      },
      { ...ofOperator, operation: "createToken", resource: `/v2/tenants/${id}/tokens` },
      { ...ofOperator, operation: "createToken", resource: `/v2/tenants/${id}/tokens` },
      { ...ofOperator, operation: "createTenant", resource: `/v2/tenants/${id}` },
    ];
    expect(own.list("changes")).toMatchObject(expected);
    expect(all.list("changes")).toMatchObject(expected);
    expect(own.list("changes").filter(({ address }) => address === undefined)).toHaveLength(4);
    expect(all.list("changes").filter(({ address }) => address === undefined)).toEqual([]);
    expect(own.text).not.toMatch(/secret=x|parallelism/);
  });

  it("comes in pages, of the caller's tenant alone", async () => {
    const [mine, theirs] = [newName(), newName()];
    const caller = await operator.tenant(mine);
    const other = await operator.tenant(theirs);
    for (const name of ["a", "b", "c"]) await caller.post(`/v2/queues/${name}/pause`);

    const first = await caller.get("/v2/audit?count=2");
    const cursor = textOf(first.object()["cursor"]);
    const rest = await caller.get(`/v2/audit?count=100&cursor=${cursor}`);

    const resourcesOf = (reply: Reply) => reply.list("changes").map(({ resource }) => resource);
    expect(resourcesOf(first)).toEqual(["/v2/queues/c/pause", "/v2/queues/b/pause"]);
    expect(resourcesOf(rest)[0]).toBe("/v2/queues/a/pause");
    expect(rest.object()).not.toHaveProperty("cursor");
    for (const { tenant } of await changesOf(other.get(`/v2/audit?cursor=${cursor}`)))
      expect(tenant).toBe(theirs);
    expect(refusal(await caller.get("/v2/audit?cursor=x"))).toEqual({
      status: 400,
      error: "cursor: must be the cursor of the previous page",
    });
    expect(refusal(await operator.get("/v2/audit/all?count=0"))).toEqual({
      status: 400,
      error: "count: must be a whole number from 1 to 1000",
    });
    expect((await caller.get("/v2/audit?tenant=other")).status).toBe(400);
  });
});

describe("signing keys", () => {
  it("rotate: the next key becomes current, and deliveries are signed with it", async () => {
    const id = newName();
    const client = await operator.tenant(id);
    const before = (await operator.get(`/v2/tenants/${id}/keys`)).object();

    const rotated = await operator.post(`/v2/tenants/${id}/keys/rotate`);

    const after = rotated.object();
    expect(rotated.status).toBe(200);
    expect(after["current"]).toBe(before["next"]);
    expect([before["current"], before["next"]]).not.toContain(after["next"]);
    expect((await operator.get(`/v2/tenants/${id}/keys`)).object()).toEqual(after);
    await eventually(
      async () => (await client.get("/v2/keys")).text,
      (text) => text === rotated.text,
      msMax,
    );
    let count = 0;
    const signedWith = async () => {
      const path = `/${id}/${count++}`;
      await client.published(destination.url(path));
      const { headers } = await destination.arrival(path, msMax);
      return signatureKeyOf(headers["service-signature"], after);
    };
    expect(await eventually(signedWith, (key) => key === "current", msMax)).toBe("current");
  });

  it("of other tenants stay unchanged", async () => {
    await operator.post("/v2/tenants", { id: newName() });

    expect((await server.client.get("/v2/keys")).object()).toEqual(firstUser.keys);
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
    const id = newName();
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
