/** Tests how the server refuses ambiguous requests (docs/design/wire#ambiguous-requests): bytes that no HTTP client would send, against the whole server. */
import { connect } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { answerTo, exchange, rawRequest } from "./raw-socket.ts";
import { developmentToken } from "./server-process.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ ownProcesses: true });

const line = (): string => `POST /v2/publish/${destination.url("/refused")} HTTP/1.1`;

describe("404", () => {
  it.each([
    "/",
    "/v2",
    "/v2/nothing",
    "/v1/publish/http://a.b",
    "/v2//messages/x",
    "/v2/messages/../../admin",
    "/v2/messages/a/b",
    "/v2/publisher",
    "/v2/topics/a%2Fb/endpoints/x",
    "/v2/__proto__",
    "/.env",
  ])("is the answer to %s", async (path) => {
    const reply = await client.get(path);

    expect(reply.status).toBe(404);
    expect(reply.error()).not.toBe("");
  });
});

describe("405", () => {
  it.each([
    ["TRACE", "/v2/keys", "GET"],
    ["POST", "/v2/keys", "GET"],
    ["PUT", "/v2/messages/x", "GET, DELETE"],
    ["PATCH", "/v2/dlq", "GET, DELETE"],
    ["PROPFIND", "/v2/events", "GET"],
    ["TRACE", "/v2/publish/http://a.b", "POST"],
    ["POST", "/readyz", "GET"],
  ])("is the answer to %s %s, with the allowed methods", async (method, path, allowed) => {
    const reply = await client.call(method, path, {});

    expect(reply.status).toBe(405);
    expect(reply.headers["allow"]).toBe(allowed);
  });
});

describe("200", () => {
  it.each(["http://a.example/healthz", "HTTP://127.0.0.1:80/healthz"])(
    "is the answer to an absolute target, by its path: %s",
    async (target) => {
      const answer = await answerTo(server.port, rawRequest(`GET ${target} HTTP/1.1`));

      expect(answer.status).toBe(200);
    },
  );

  it("is the answer to two requests that were sent at once, in their order", async () => {
    const request = (path: string, more: readonly string[] = []): string =>
      [
        `GET ${path} HTTP/1.1`,
        "Host: a",
        `Authorization: Bearer ${developmentToken}`,
        ...more,
        "",
        "",
      ].join("\r\n");

    const answers = await exchange(
      server.port,
      request("/v2/keys") + request("/v2/topics", ["Connection: close"]),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ body }) => body[0])).toEqual(["{", "["]);
  });

  it("lets in pages of this machine in the dev profile, whatever their origin", async () => {
    const reply = await preflight("http://localhost:3000");

    expect(reply.status).toBe(204);
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
  });
});

describe("403", () => {
  it("is the answer to any other page in the dev profile, with the public token or without, also under a host name of its own", async () => {
    const asked = [
      await preflight("https://console.example"),
      await client.call("GET", "/v2/keys", { origin: "https://console.example" }),
      await client.call("POST", `/v2/publish/${destination.url("/csrf")}`, {
        origin: "null",
      }),
      await client.call("GET", "/v2/keys", { host: "rebound.example:8080" }),
    ];

    for (const reply of asked) {
      expect(reply.status).toBe(403);
      expect(reply.error()).toContain("POSTHASTE_DEV_ORIGINS=any opens it");
      expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    }
    expect(destination.at("/csrf")).toEqual([]);
  });
});

const preflight = (origin: string) =>
  client.call("OPTIONS", "/v2/publish/x", {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  });

describe("a request that is refused", () => {
  it("does not smuggle another one in its body", async () => {
    const smuggled = rawRequest(`POST /v2/publish/${destination.url("/smuggled")} HTTP/1.1`);
    const headers = [`Content-Length: 3`, "Transfer-Encoding: chunked"];

    const answers = await exchange(
      server.port,
      rawRequest(line(), headers, `0\r\n\r\n${smuggled}`),
    );

    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(destination.at("/smuggled")).toEqual([]);
  });

  it("publishes nothing when its body is cut short", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => {
      const head = rawRequest(line(), ["Content-Length: 100"], "half");
      socket.write(head, () => setTimeout(resolve, 50));
    });
    socket.destroy();
    // A later publish that arrives shows that the first had enough time.
    await client.published(destination.url("/after"), { "Service-Delay": "1s" });
    await destination.arrival("/after");

    expect(destination.at("/refused")).toEqual([]);
  });

  it("leaves no trace, and the server ready", async () => {
    const events = await client.get(
      `/v2/events?url=${encodeURIComponent(destination.url("/refused"))}`,
    );

    expect(events.list("events")).toEqual([]);
    expect((await client.get("/readyz")).status).toBe(200);
    expect(server.output()).not.toMatch(/ error | request\.(failed|refused)/);
  });
});
