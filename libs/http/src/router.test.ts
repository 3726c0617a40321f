import { afterEach, describe, expect, it } from "@jest/globals";
import { fault } from "@posthaste/domain";
import { type Edge } from "./edge/edge.ts";
import { createExpressApp, queryOf, replyOf, type Route } from "./router.ts";
import { rawExchange, request, testEdge } from "./edge/raw-exchange.fixture.ts";

let edge: Edge | undefined;
afterEach(() => edge?.stop());

const things = "/v2/things/{name}";
const answered = (json?: unknown) => replyOf({ status: 200, json }, "a");
const routes: readonly Route[] = [
  {
    method: "get",
    path: things,
    handle: async (req) => answered({ name: req.params["name"], query: [...queryOf(req)] }),
  },
  { method: "delete", path: things, handle: async () => answered() },
  { method: "post", path: `${things}/parts/{part}`, handle: async (req) => answered(req.params) },
  {
    method: "get",
    path: "/v2/missing",
    handle: async () => fault("not_found", "thing x not found"),
  },
  {
    method: "get",
    path: "/v2/broken",
    handle: async () => {
      throw new Error("secret of ours");
    },
  },
  ...(["get", "post", "delete"] as const).flatMap((method) => [
    { method, path: "/v2/letters/{id}", handle: async () => answered("one") },
    { method, path: "/v2/letters", handle: async () => answered("all") },
    { method, path: "/v2/letters/retry/{id}", handle: async () => answered("one again") },
    { method, path: "/v2/letters/retry", handle: async () => answered("all again") },
  ]),
];

async function ask(line: string): Promise<{ status: number; head: string; body: string }> {
  const made = await testEdge({
    handle: (answers) => {
      const app = createExpressApp(routes, answers);
      return (req, res) => (app(req, res), undefined);
    },
  });
  edge = made.edge;
  const [got] = await rawExchange(made.edge.port, request(`${line} HTTP/1.1`));
  return got ?? { status: 0, head: "", body: "" };
}

describe("a route", () => {
  it.each([
    ["as written", "/v2/things/a"],
    ["in another case", "/V2/THINGS/a"],
    ["with a slash at the end", "/v2/things/a/"],
  ])("is found %s", async (_, path) => {
    expect(await ask(`GET ${path}`)).toMatchObject({
      status: 200,
      body: `{"name":"a","query":[]}`,
    });
  });

  it("decodes a parameter once, and leaves the query as text", async () => {
    const { body } = await ask("GET /v2/things/a%2Fb%2525?count[$gt]=0&count=1&count=2");

    expect(JSON.parse(body)).toEqual({
      name: "a/b%25",
      query: [
        ["count[$gt]", "0"],
        ["count", "1"],
        ["count", "2"],
      ],
    });
  });

  it.each(["POST", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])(
    "answers %s, which it does not have, with 405 and what it has",
    async (method) => {
      const { status, head } = await ask(`${method} /v2/things/a`);

      expect(status).toBe(405);
      expect(head).toContain("Allow: GET, DELETE\r\n");
    },
  );

  it.each(["/v2/nothing", "/v2/messages/../../admin", "/", "/v2/things"])(
    "that does not exist, %s, is 404 in JSON",
    async (path) => {
      expect(await ask(`GET ${path}`)).toMatchObject({
        status: 404,
        body: `{"error":"no such endpoint"}`,
      });
    },
  );

  it("has each parameter of its path by its name", async () => {
    expect(await ask("POST /v2/things/a/parts/b")).toMatchObject({
      body: `{"name":"a","part":"b"}`,
    });
  });

  it.each([
    ["/v2/letters", "all"],
    ["/v2/letters/x", "one"],
    ["/v2/letters/retry", "all again"],
    ["/v2/letters/retry/x", "one again"],
  ])("%s has precedence over a parameter, anywhere in the table", async (path, by) => {
    expect((await ask(`DELETE ${path}`)).body).toBe(JSON.stringify(by));
  });

  it.each(["DELETE /v2/letters/", "POST /v2/letters/", "POST /V2/Letters/Retry/?x=1"])(
    "%s is an item without an id, and never the whole collection",
    async (line) => {
      expect(await ask(line)).toMatchObject({
        status: 400,
        body: `{"error":"the id at the end of the path is empty"}`,
      });
    },
  );

  it("that only reads a collection may end in a slash", async () => {
    expect((await ask("GET /v2/letters/")).body).toBe('"all"');
  });

  it("with a broken escape is 400", async () => {
    expect((await ask("GET /v2/things/%zz")).status).toBe(400);
  });

  it("answers a fault with its status and text", async () => {
    expect(await ask("GET /v2/missing")).toMatchObject({
      status: 404,
      body: `{"error":"thing x not found"}`,
    });
  });

  it("does not reveal the thrown error", async () => {
    const { status, body } = await ask("GET /v2/broken");

    expect(status).toBe(500);
    expect(body).toMatch(/^\{"error":"internal error \w{12}"\}$/);
  });

  it("says nothing about its maker", async () => {
    expect((await ask("GET /v2/things/a")).head).not.toMatch(/x-powered-by|etag|server:/i);
  });
});
