import { afterEach, describe, expect, it } from "@jest/globals";
import { fault } from "@posthaste/domain";
import { type Edge } from "./edge.ts";
import { createExpressApp, emptyReply, queryOf, reply, type RoutedPath } from "./express.ts";
import { rawExchange, request, testEdge } from "./raw-exchange.ts";

let edge: Edge | undefined;
afterEach(() => edge?.stop());

const paths: readonly RoutedPath[] = [
  {
    path: "/v2/things/:name",
    methods: {
      GET: async (req) => reply({ name: req.params["name"], query: [...queryOf(req)] }),
      DELETE: async () => emptyReply(),
    },
  },
  { path: "/v2/missing", methods: { GET: async () => fault("not_found", "thing x not found") } },
  {
    path: "/v2/broken",
    methods: {
      GET: async () => {
        throw new Error("secret of ours");
      },
    },
  },
];

async function ask(line: string): Promise<{ status: number; head: string; body: string }> {
  const made = await testEdge({
    handle: (answers) => {
      const app = createExpressApp(paths, answers);
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

  it("with a broken escape is 400", async () => {
    expect((await ask("GET /v2/things/%zz")).status).toBe(400);
  });

  it("answers a fault with its status and text", async () => {
    expect(await ask("GET /v2/missing")).toMatchObject({
      status: 404,
      body: `{"error":"thing x not found"}`,
    });
  });

  it("tells nothing of what was thrown", async () => {
    const { status, body } = await ask("GET /v2/broken");

    expect(status).toBe(500);
    expect(body).toMatch(/^\{"error":"internal error \w{12}"\}$/);
  });

  it("says nothing about who made it", async () => {
    expect((await ask("GET /v2/things/a")).head).not.toMatch(/x-powered-by|etag|server:/i);
  });
});
