/**
 * Tests what each credential may do over both listeners (docs/design/security#authentication), by a table of all
 * routes and all credentials that a caller could send. Two tenants, made by the operator, have one of everything; the
 * other's credentials neither see nor change any of it.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { endpoints } from "@posthaste/contract";
import { Client, hasLength } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { textOf } from "./json.ts";
import {
  basic,
  freshNetwork,
  operatorEnv,
  operatorPassword,
  operatorUser,
  untilStatus,
} from "./operator.ts";
import { destination, operator, server, startBeforeTests } from "./suite.ts";

type Estate = {
  readonly id: string;
  readonly full: string;
  readonly read: string;
  readonly revoked: string;
  readonly keys: string;
  readonly held: string;
  readonly dlqId: string;
  readonly tokenId: string;
  readonly indexId: string;
  readonly indexToken: string;
  readonly indexReadOnlyToken: string;
};

startBeforeTests({ env: operatorEnv });

let mine: Estate;
let theirs: Estate;

const msMax = 60_000;

beforeAll(async () => {
  destination.answers("/fails", always(500));
  mine = await settle("mine");
  theirs = await settle("theirs");
}, 4 * msMax);

const as = (token: string): Client => new Client(server.port, token);

async function settle(id: string): Promise<Estate> {
  await operator.post("/v2/tenants", { id });
  const [revoked, full, read] = [
    await operator.token(id),
    await operator.token(id),
    await operator.token(id, "read"),
  ];
  await untilStatus(as(read), 200);
  const [first, second] = (await operator.get(`/v2/tenants/${id}/tokens`)).list();
  await operator.delete(`/v2/tenants/${id}/tokens/${textOf(first?.["id"])}`);
  await untilStatus(as(revoked), 401);

  const client = as(full);
  const held = await client.published(destination.url(`/${id}`), service({ Delay: "1h" }), id);
  await client.published(destination.url("/fails"), service({ Retries: "0" }), id);
  const endpoint = { url: destination.url(`/group/${id}`) };
  await client.postJson("/v2/topics/shared/endpoints", { endpoints: [endpoint] });
  const letters = await client.until("/v2/dlq", "messages", hasLength(1), msMax);
  const wanted = { name: id, endpoint: "a.example", type: "free", region: "eu-west-1" };
  const index = await operator.post("/v2/search", { customer_id: id, ...wanted });
  const keys = await operator.get(`/v2/tenants/${id}/keys`);
  return {
    id,
    full,
    read,
    revoked,
    held,
    keys: keys.text,
    dlqId: textOf(letters[0]?.["dlqId"]),
    tokenId: textOf(second?.["id"]),
    indexId: textOf(index.object()["id"]),
    indexToken: textOf(index.object()["token"]),
    indexReadOnlyToken: textOf(index.object()["read_only_token"]),
  };
}

/** Values that only the tenant may see or, for the last four, the operator. */
const secretsOf = (estate: Estate): readonly string[] => [
  estate.held,
  estate.dlqId,
  `/group/${estate.id}`,
  estate.keys,
  estate.indexId,
  estate.indexToken,
  estate.indexReadOnlyToken,
];

/** Fills in the names and ids of the other tenant. */
const filled = (path: string): string =>
  path
    .replace("{destination}", destination.url("/stranger"))
    .replace("{messageId}", theirs.held)
    .replace("{runId}", "run")
    .replace("{eventId}", "event")
    .replace("{dlqId}", theirs.dlqId)
    .replace("{urlGroupName}", "shared")
    .replace("{actionId}", "x")
    .replace("{queueName}", "shared")
    .replace("{scheduleId}", "shared")
    .replace("{flowControlKey}", "key")
    .replace("{tokenId}", theirs.tokenId)
    .replace("/search/{id}", `/search/${theirs.indexId}`)
    .replace("{id}", theirs.id);

const bodies: Readonly<Record<string, string>> = {
  "post /v2/search": '{"customer_id":"theirs","name":"a","endpoint":"a","type":"free"}',
  "post /v2/tenants": '{"id":"stranger"}',
  "patch /v2/tenants/{id}": '{"plan":{"retriesMax":5}}',
  "post /v2/tenants/{id}/tokens": '{"scope":"full"}',
  "post /v2/search/{id}/throughput": '{"y":1}',
};
const routesOf = (api: "management" | undefined) =>
  endpoints
    .filter((endpoint) => endpoint.api === api)
    .map(({ method, path }) => ({
      route: `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      body: bodies[`${method} ${path}`] ?? "{}",
    }));

/** Everything that an Authorization header may hold. */
const strangersToManagement: readonly (readonly [string, () => string])[] = [
  ["nothing", () => ""],
  ["a tenant's full token", () => `Bearer ${mine.full}`],
  ["the tenant's own full token", () => `Bearer ${theirs.full}`],
  ["a tenant's read-only token", () => `Bearer ${theirs.read}`],
  ["the tenant and its token as user and password", () => basic(theirs.id, theirs.full)],
  ["the operator's name and a tenant's token", () => basic(operatorUser, theirs.full)],
  ["the operator's name and an index's token", () => basic(operatorUser, theirs.indexToken)],
  ["an index's token", () => `Bearer ${theirs.indexToken}`],
  ["an index's read-only token", () => `Bearer ${theirs.indexReadOnlyToken}`],
  ["the operator's password without the name", () => basic("", operatorPassword)],
  ["the operator's password as a token", () => `Bearer ${operatorPassword}`],
];

describe.each(routesOf("management"))("management: $route", ({ method, path, body }) => {
  it.each(strangersToManagement)("401 for %s", async (_, authorization) => {
    const headers = { authorization: authorization(), ...freshNetwork() };

    const reply = await operator.call(method, filled(path), body, headers);

    expect(reply.status).toBe(401);
    expect(reply.text).toBe('{"error":"user and password are missing or wrong"}');
    expect(reply.headers["www-authenticate"]).toMatch(/^Basic /);
  });
});

const strangersToGateway: readonly (readonly [string, () => string])[] = [
  ["nothing", () => ""],
  ["the operator's credentials", () => basic(operatorUser, operatorPassword)],
  ["the operator's password as a token", () => `Bearer ${operatorPassword}`],
  ["an index's token", () => `Bearer ${theirs.indexToken}`],
  ["an index's read-only token", () => `Bearer ${theirs.indexReadOnlyToken}`],
  ["a revoked token", () => `Bearer ${theirs.revoked}`],
  ["the id of a token", () => `Bearer ${theirs.tokenId}`],
];

describe.each(routesOf(undefined))("gateway: $route", ({ method, path, body }) => {
  it.each(strangersToGateway)("401 for %s", async (_, authorization) => {
    const headers = { authorization: authorization(), ...freshNetwork() };

    const reply = await new Client(server.port, null).call(method, filled(path), headers, body);

    expect({ status: reply.status, text: reply.text }).toEqual({
      status: 401,
      text: '{"error":"the token is missing or unknown"}',
    });
  });

  it.each(["full", "read"] as const)(
    "shows and changes nothing of another tenant with a %s token",
    async (scope) => {
      const token = scope === "full" ? mine.full : mine.read;

      const reply = await as(token).call(method, filled(path), {}, body);

      for (const secret of secretsOf(theirs)) {
        // A refusal may repeat the id in the request.
        const said = reply.status === 404 ? filled(path) : "";
        if (!said.includes(secret)) expect(reply.text).not.toContain(secret);
      }
      if (scope === "read" && method !== "GET") expect(reply.status).toBe(403);
      if (/\{(messageId|dlqId)\}/.test(path))
        expect(reply.status).toBe(scope === "read" && method !== "GET" ? 403 : 404);
    },
  );
});

describe("after every refused request", () => {
  it("everything of the other tenant is unchanged, and its own tokens show it", async () => {
    const client = as(theirs.read);
    const message = await client.get(`/v2/messages/${theirs.held}`);
    const letter = await client.get(`/v2/dlq/${theirs.dlqId}`);
    const group = await client.get("/v2/topics/shared");

    expect(message.object()).toMatchObject({ body: theirs.id });
    expect(letter.status).toBe(200);
    expect(group.text).toContain("/group/theirs");
    expect((await as(theirs.full).get("/v2/keys")).text).toBe(theirs.keys);
  });

  it("the operator finds tenants, tokens and indexes unchanged", async () => {
    const tenants = (await operator.get("/v2/tenants")).list().map(({ id }) => id);
    const tokens = (await operator.get("/v2/tenants/theirs/tokens")).list();
    // Other suites may have indexes of their own at the same server.
    const indexes = (await operator.get("/v2/search"))
      .list()
      .filter(({ customer_id: customer }) => customer === mine.id || customer === theirs.id);

    expect(tenants).toContain("theirs");
    expect(tenants).not.toContain("stranger");
    expect(tokens).toHaveLength(2);
    expect(indexes.map(({ id }) => id)).toEqual([mine.indexId, theirs.indexId]);
    expect(indexes[1]).toMatchObject({
      token: theirs.indexToken,
      read_only_token: theirs.indexReadOnlyToken,
      throughput_vector: [],
    });
    expect((await operator.get("/v2/tenants/theirs")).object()).toMatchObject({
      plan: { retriesMax: 1_000 },
    });
  });
});
