/** Tests tokens as the operator makes and revokes them, and what a scope allows at the gateway (docs/management.md). */
import { describe, expect, it } from "@jest/globals";
import { Client, eventually, type Reply, hasStatus, hasLength } from "./client.ts";
import { textOf } from "./json.ts";
import { service } from "./dialects.ts";
import { newTenant, operatorEnv, untilStatus } from "./operator.ts";
import { begin } from "./session.ts";
import { destination, operator, server, startBeforeTests } from "./suite.ts";
import { firstUser } from "./users.ts";

startBeforeTests({ env: operatorEnv });

const refusal = (reply: Reply) => ({ status: reply.status, error: reply.error() });

describe("a token", () => {
  it("is shown when it is made, and never again", async () => {
    const id = newTenant();
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

  it("with the scope operate reads and acts, and neither publishes nor removes anything", async () => {
    const id = newTenant();
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

  it("with the scope operate pauses a queue and a flow key before their first message, which then waits", async () => {
    const id = newTenant();
    const full = await operator.tenant(id);
    const onCall = await operator.caller(id, "operate");
    const waiting = { queue: "/v2/queues/early", key: "/v2/flowControl/early" } as const;

    for (const path of Object.values(waiting))
      expect((await onCall.post(`${path}/pause`)).status).toBe(200);
    await full.post(`/v2/enqueue/early/${destination.url(`/${id}/queue`)}`);
    const settings = service({
      "Flow-Control-Key": "early",
      "Flow-Control-Value": "parallelism=1",
    });
    await full.published(destination.url(`/${id}/key`), settings);

    const queue = { paused: true, parallelism: 1, lag: 1 };
    expect((await onCall.get(waiting.queue)).object()).toMatchObject(queue);
    const key = { isPaused: true, waitListSize: 1 };
    expect((await onCall.get(waiting.key)).object()).toMatchObject(key);
    for (const path of Object.values(waiting)) await onCall.post(`${path}/resume`);
    await destination.arrival(`/${id}/queue`);
    await destination.arrival(`/${id}/key`);
  });

  it("with the scope operate retries what is redacted, but not with a callback to another URL", async () => {
    const id = newTenant();
    const full = await operator.tenant(id);
    const onCall = await operator.caller(id, "operate");
    destination.answers(`/${id}`, (_, response) => void response.writeHead(500).end());
    const secret = service({ Retries: "0", "Redact-Fields": "body" });
    await full.published(destination.url(`/${id}`), secret, "hidden");
    const [letter] = await full.until("/v2/dlq", "messages", hasLength(1), 30_000);
    const retry = `/v2/dlq/retry/${textOf(letter?.["dlqId"])}`;

    const toAnother = await onCall.post(retry, service({ Callback: destination.url("/reads") }));

    expect(refusal(toAnother)).toEqual({
      status: 403,
      error: "this needs a token of scope full; the scope of this token is operate",
    });
    expect((await onCall.post(retry)).status).toBe(201);
  });

  it("with the scope publish publishes, and reads nothing except /v2/me", async () => {
    const id = newTenant();
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
    const id = newTenant();
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
    const id = newTenant();
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
    const id = newTenant();
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
    const name = newTenant();
    const caller = await operator.tenant(name);
    const token = await operator.token(name);
    const anonymous = new Client(server.port, null);
    await untilStatus(new Client(server.port, token), 200);
    const session = await begin(anonymous, `Bearer ${token}`);
    const before = await anonymous.get("/v2/me", session);
    const tokens = (await operator.get(`/v2/tenants/${name}/tokens`)).list();
    await operator.delete(`/v2/tenants/${name}/tokens/${textOf(tokens[1]?.["id"])}`);

    const after = await eventually(() => anonymous.get("/v2/me", session), hasStatus(401));

    expect([before.status, after.error()]).toEqual([200, "the session has ended: sign in again"]);
    expect((await caller.get("/v2/me")).status).toBe(200);
  });

  it("404 is the answer to revoking it in the name of another tenant", async () => {
    const [mine, theirs] = [newTenant(), newTenant()];
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
    const id = newTenant();
    await operator.post("/v2/tenants", { id });
    for (let i = 0; i < 100; i++) await operator.token(id);

    const reply = await operator.post(`/v2/tenants/${id}/tokens`, { scope: "full" });

    expect(refusal(reply)).toEqual({ status: 412, error: "a tenant may have at most 100 tokens" });
  });
});
