/** Tests what each token may do (docs/design/security#authentication): 401, 403 and 429, on every route. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { type EndpointKind } from "@posthaste/contract";
import { Client, type Reply } from "./client.ts";
import { type Estate, routes, settle, timeless } from "./estate.ts";
import { exchange, rawRequest } from "./raw-socket.ts";
import { textOf } from "./json.ts";
import { freshNetwork, operatorEnv } from "./operator.ts";
import { begin, enter, leave } from "./session.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";
import { firstUser, readOnlyToken } from "./users.ts";
import { developmentToken } from "./server-process.ts";

let reader: Client;
let anonymous: Client;

let estate: Estate;

startBeforeTests({ env: operatorEnv, readOnlyToken });

beforeAll(async () => {
  reader = new Client(server.port, readOnlyToken);
  anonymous = new Client(server.port, null);
  estate = await settle(client, destination, "me");
});

const endpointsBody = '{"endpoints":[{"url":"http://127.0.0.1:9/"}]}';
const routesOf = (...kinds: readonly EndpointKind[]): readonly (readonly [string, string])[] =>
  routes(estate, ...kinds).map(({ method, path }) => [method, path]);

const reads = () => routesOf("read", "list");
/** The holder of a signing key can sign as the service does. */
const secrets = () => routesOf("secret");
const writes = () => [
  ...routesOf("act", "write", "publish"),
  ["POST", "/v2/publish/group"] as const,
];

/** Each caller has a network of its own, so that the failures of one do not get another refused. */
const network = (): string => freshNetwork()["x-forwarded-for"];

it("the suite asks every endpoint of the tables, with its path filled in", () => {
  for (const [, path] of [...reads(), ...secrets(), ...writes()]) expect(path).not.toMatch(/[{}]/);
});

describe("401", () => {
  const refused = { status: 401, error: "the token is missing or unknown" };
  const called = async (method: string, path: string, headers: Record<string, string>) => {
    const more = { "x-forwarded-for": network(), ...headers };
    const reply = await client.call(method, path, more, endpointsBody);
    return { status: reply.status, error: reply.error() };
  };

  it("is the answer of every route to an unknown token, with the same text everywhere", async () => {
    for (const [method, path] of [...reads(), ...secrets(), ...writes()]) {
      expect(await called(method, path, { authorization: "Bearer unknown" })).toEqual(refused);
    }
  });

  it("names the Bearer scheme in WWW-Authenticate", async () => {
    const headers = { authorization: "Bearer unknown", "x-forwarded-for": network() };

    const reply = await client.get("/v2/keys", headers);

    expect(reply.headers["www-authenticate"]).toBe("Bearer");
  });

  it.each([
    ["empty", ""],
    ["the scheme alone", "Bearer"],
    ["the scheme and a space", "Bearer "],
    ["two spaces", `Bearer  ${developmentToken}`],
    ["another scheme", `Basic ${developmentToken}`],
    ["no scheme", developmentToken],
    ["the token and one character more", `Bearer ${developmentToken}x`],
    ["the token without its end", `Bearer ${developmentToken.slice(0, -1)}`],
    ["the token twice", `Bearer ${developmentToken} ${developmentToken}`],
    ["another alphabet", `Bearer ${developmentToken.replace("=", "")}`],
    ["8 KiB", `Bearer ${"x".repeat(8_192)}`],
    ["a name that means something to JavaScript", "Bearer __proto__"],
  ])("is the answer to an Authorization that is %s", async (_, authorization) => {
    expect(await called("GET", "/v2/keys", { authorization })).toEqual(refused);
  });

  it("is the answer to two Authorization headers, even when both are right", async () => {
    const again = `Authorization: Bearer ${developmentToken}`;

    const [answer] = await exchange(server.port, rawRequest("GET /v2/keys HTTP/1.1", [again]));

    expect(answer?.status).toBe(401);
  });

  it("changes nothing that the refused requests were about", async () => {
    expect((await client.get(`/v2/messages/${estate.messageId}`)).status).toBe(200);
    expect(await client.listed("/v2/topics/group", "endpoints")).toHaveLength(1);
    expect(destination.at("/refused")).toEqual([]);
  });
});

describe("200", () => {
  it("is the answer whatever the case of the scheme's letters", async () => {
    const reply = await client.get("/v2/keys", { authorization: `bEARER ${developmentToken}` });

    expect(reply.status).toBe(200);
  });

  it("is the answer to a token in the query of a request without the header", async () => {
    const reply = await anonymous.get(
      `/v2/keys?qstash_token=${encodeURIComponent(developmentToken)}`,
    );

    expect(reply.status).toBe(200);
  });

  it("is the answer to a publish with the token in the query, which neither destination, record nor log shows", async () => {
    const token = encodeURIComponent(developmentToken);
    const url = destination.url(`/query-token?a=1&qstash_token=${token}&b=2`);

    const reply = await anonymous.post(`/v2/publish/${url}`);

    const arrival = await destination.arrival("/query-token");
    const message = await client.get(`/v2/messages/${textOf(reply.object()["messageId"])}`);
    const events = await client.get("/v2/events");
    const leaks = [
      arrival.path,
      ...arrival.rawHeaders,
      reply.text,
      message.text,
      events.text,
    ].filter(
      (text) =>
        text.includes(developmentToken) || text.includes(token) || text.includes("qstash_token"),
    );
    expect(arrival.path).toBe("/query-token?a=1&b=2");
    expect(message.object()["url"]).toBe(destination.url("/query-token?a=1&b=2"));
    expect(leaks).toEqual([]);
    expect(server.output()).not.toContain("qstash_token");
  });

  it("is the answer to a right token from a network whose wrong tokens are refused with 429", async () => {
    const from = { "x-forwarded-for": network() };
    for (let i = 0; i < 15; i++)
      await client.get("/v2/keys", { ...from, authorization: "Bearer x" });

    expect((await client.get("/v2/keys", from)).status).toBe(200);
  });

  it("is the answer of the health endpoint without a token", async () => {
    const [healthy, ready] = [await anonymous.get("/healthz"), await anonymous.get("/readyz")];

    expect([healthy.status, ready.status]).toEqual([200, 200]);
  });
});

describe("429", () => {
  it("is the answer to the eleventh failure of a network in a minute, with Retry-After", async () => {
    const from = { "x-forwarded-for": network(), authorization: "Bearer guess" };
    const replies: Reply[] = [];
    for (let i = 0; i < 11; i++) replies.push(await client.get("/v2/keys", from));

    expect(replies.map(({ status }) => status)).toEqual([...Array<number>(10).fill(401), 429]);
    expect(Number(replies[10]?.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });
});

describe("a token that may only read", () => {
  it("200 reads whatever the full token reads, except the signing keys", async () => {
    // /v2/me differs by token: the next test.
    for (const [method, path] of reads().filter(([, asked]) => asked !== "/v2/me")) {
      const read = async (by: typeof client) => {
        const { status, text } = await by.call(method, path, {});
        return { path, status, text: timeless(path, text) };
      };
      // The log may grow between two reads. Then the read after it has the event, too.
      const before = await read(client);
      const own = await read(reader);
      const after = await read(client);

      expect([before, after]).toContainEqual(own);
    }
  });

  it("200 /v2/me shows its own scope, and the tenant and plan that it shares with the full token", async () => {
    const [own, full] = [await reader.get("/v2/me"), await client.get("/v2/me")];

    expect(own.object()).toEqual({ ...full.object(), scope: "read" });
    expect(full.object()).toMatchObject({ tenant: firstUser.userId, scope: "full" });
    expect(full.text).not.toMatch(/sig_/);
  });

  it("403 does not read the signing keys", async () => {
    for (const [method, path] of secrets()) {
      const reply = await reader.call(method, path, {});

      expect(reply.status).toBe(403);
      expect(reply.text).not.toContain("sig_");
      expect((await client.call(method, path, {})).status).toBe(200);
    }
  });

  it("403 changes nothing, on any route", async () => {
    for (const [method, path] of writes()) {
      const reply = await reader.call(method, path, {}, endpointsBody);

      expect({ path, status: reply.status }).toEqual({ path, status: 403 });
      expect(reply.error()).toMatch(
        /^this needs a token of scope full\b.*; the scope of this token is read$/,
      );
    }
    expect((await client.get(`/v2/messages/${estate.messageId}`)).status).toBe(200);
    expect(await client.listed("/v2/topics/group", "endpoints")).toHaveLength(1);
    expect(destination.at("/refused")).toEqual([]);
    expect(destination.at("/group/me")).toEqual([]);
  });
});

describe("a session of the console", () => {
  const of = (token: string) => begin(anonymous, `Bearer ${token}`);

  it("200 reads what its token reads; 403 changes nothing if the token may only read", async () => {
    const session = await of(readOnlyToken);

    for (const [method, path] of [...secrets(), ...writes()]) {
      const { status } = await anonymous.call(method, path, session, endpointsBody);
      expect({ path, status }).toEqual({ path, status: 403 });
    }
    const [own, byToken] = [await anonymous.get("/v2/me", session), await reader.get("/v2/me")];
    expect(own.object()).toEqual(byToken.object());
  });

  it("200 publishes, and neither destination, record nor log shows the session, even when headers are forwarded", async () => {
    const session = await of(developmentToken);
    const url = destination.url("/by-session");

    const handOn = { "upstash-header-forward": "true", "x-mine": "handed-on" };
    const reply = await anonymous.post(`/v2/publish/${url}`, { ...session, ...handOn });

    const arrival = await destination.arrival("/by-session");
    const message = await client.get(`/v2/messages/${textOf(reply.object()["messageId"])}`);
    const seen = [...arrival.rawHeaders, message.text, server.output()].join(" ");
    expect(arrival.rawHeaders).toContain("handed-on");
    expect(seen).not.toContain(session["posthaste-session"]);
    expect(seen).not.toMatch(/posthaste-session=/);
  });

  it("401 does not hold without the header of the page, and such a request does not count as a failed one", async () => {
    const { cookie } = await of(developmentToken);
    const from = { "x-forwarded-for": network() };

    for (let i = 0; i < 20; i++)
      expect((await anonymous.get("/v2/me", { cookie, ...from })).status).toBe(401);
    expect((await anonymous.get("/v2/me", { authorization: "Bearer x", ...from })).status).toBe(
      401,
    );
  });

  it("401 is ignored beside an Authorization header or a token in the query, whether that is right or wrong", async () => {
    const session = { ...(await of(developmentToken)), "x-forwarded-for": network() };
    const right = { ...session, authorization: `Bearer ${readOnlyToken}` };

    const wrong = await anonymous.get("/v2/me", { ...session, authorization: "Bearer x" });
    const inQuery = await anonymous.get("/v2/me?qstash_token=x", session);

    expect([wrong.status, inQuery.status]).toEqual([401, 401]);
    expect((await anonymous.get("/v2/me", right)).object()["scope"]).toBe("read");
  });

  it.each(["same-site", "cross-site"])(
    "401 is refused to a page that is %s, and 403 such a page neither begins nor ends a session",
    async (site) => {
      const headers = { ...(await of(developmentToken)), "sec-fetch-site": site };

      for (const [method, path] of [["GET", "/v2/me"], ...writes()] as const)
        expect((await anonymous.call(method, path, headers, endpointsBody)).status).toBe(401);
      expect((await anonymous.call("DELETE", "/console/session", headers)).status).toBe(403);
      expect((await enter(anonymous, headers)).status).toBe(403);
    },
  );

  it("401 ends when its owner signs out, and other sessions continue", async () => {
    const [one, other] = [await of(developmentToken), await of(developmentToken)];
    await leave(anonymous, one);

    const [gone, there] = [
      await anonymous.get("/v2/me", one),
      await anonymous.get("/v2/me", other),
    ];
    expect([gone.status, gone.error(), there.status]).toEqual([
      ...[401, "the session has ended: sign in again", 200],
    ]);
    expect((await enter(anonymous, one)).object()["session"]).toBeUndefined();
    expect((await leave(anonymous, one)).status).toBe(200);
  });

  it("begins only with a token, not with another session", async () => {
    const session = await of(developmentToken);
    const again = await enter(anonymous, session);

    expect(again.object()).toEqual({ session: session["posthaste-session"] });
    expect(again.headers["set-cookie"]).toBeUndefined();
    for (const method of ["GET", "PUT", "HEAD"])
      expect((await anonymous.call(method, "/console/session", session)).status).toBe(405);
  });
});

describe("the caller's address", () => {
  const callerOf = async (forwardedFor: string): Promise<unknown> => {
    const headers = { "x-forwarded-for": forwardedFor, "Service-Delay": "1h" };
    const id = await client.published(destination.url("/ip"), headers);
    return (await client.get(`/v2/messages/${id}`)).object()["callerIP"];
  };

  it.each([
    ["the rightmost that is no trusted proxy", "1.1.1.1, 203.0.113.9, 127.0.0.1", "203.0.113.9"],
    ["an IPv6 address", "2001:db8::1", "2001:db8::1"],
    ["the proxy's own when what it says is no address", "1.1.1.1, garbage", "127.0.0.1"],
  ])("is %s", async (_, forwardedFor, address) => {
    expect(await callerOf(forwardedFor)).toBe(address);
  });
});
