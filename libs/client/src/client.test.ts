import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { type Client, PosthasteError } from "./index.ts";
import * as overFetch from "./index.ts";
import * as overGot from "./node.ts";

type Arrival = {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};
type Responder = (response: ServerResponse, nth: number) => void;

const arrivals: Arrival[] = [];
let respond: Responder;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url: target, headers } = request;
    const body = Buffer.concat(chunks).toString();
    respond(response, arrivals.push({ method, target, headers, body }) - 1);
  });
});
let connections = 0;
server.on("connection", () => (connections += 1));
let url: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  arrivals.length = 0;
  respond = (response) => response.end("{}");
});

const refuses =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Responder =>
  (response) =>
    response
      .writeHead(status, { "Posthaste-Fault": code, ...headers })
      .end(JSON.stringify({ error: `it is ${code}` }));
const first =
  (responder: Responder): Responder =>
  (response, nth) =>
    nth === 0 ? responder(response, nth) : response.end("{}");
const breaksOff: Responder = (response) => void response.destroy();
describe.each([
  ["fetch", overFetch],
  ["got", overGot],
] as const)("over %s", (_, { createClient, createManagement }) => {
  let client: Client;
  beforeAll(() => {
    client = createClient({ url, token: "secret" });
  });
  afterAll(() => client.close());

  const publishes = () => client.publish({ to: "https://a.example/x" });
  const deduplicated = () => client.publish({ to: "https://a.example/x", deduplicationId: "1" });
  const reads = () => client.messages.read("msg_1");

  describe("a request", () => {
    it("names token, path, query and settings, and says its body as JSON", async () => {
      await client.messages.read("a/b?c");
      await client.log.events({ query: { state: "ERROR", label: ["x", "y"], count: 5 } });
      await client.queues.upsert({ body: { queueName: "q", parallelism: 2 } });
      await client.deadLetters.retry("dlq_1", { settings: { retries: 3, label: ["a", "b"] } });

      expect(arrivals).toMatchObject([
        { method: "GET", target: "/v2/messages/a%2Fb%3Fc", body: "" },
        { method: "GET", target: "/v2/events?state=ERROR&label=x&label=y&count=5" },
        {
          method: "POST",
          target: "/v2/queues",
          headers: { "content-type": "application/json" },
          body: '{"queueName":"q","parallelism":2}',
        },
        {
          target: "/v2/dlq/retry/dlq_1",
          headers: { "service-retries": "3", "service-label": "a,b" },
        },
      ]);
      expect(arrivals.map(({ headers }) => headers.authorization)).toEqual(
        Array(4).fill("Bearer secret"),
      );
    });

    it("of a publish has destination, settings, forwarded headers and body", async () => {
      await client.publishJson({
        to: "https://a.example/../x?y=%20#z",
        json: { hello: "world" },
        delay: "10m",
        notBefore: 17,
        headers: { "X-Mine": "1" },
        failureCallback: "https://b.example",
        failureCallbackHeaders: { "X-Theirs": "2" },
      });

      expect(arrivals).toMatchObject([
        {
          method: "POST",
          target: "/v2/publish/https%3A%2F%2Fa.example%2F..%2Fx%3Fy%3D%2520%23z",
          headers: {
            "content-type": "application/json",
            "service-delay": "10m",
            "service-not-before": "17",
            "service-forward-x-mine": "1",
            "service-failure-callback": "https://b.example",
            "service-failure-callback-forward-x-theirs": "2",
          },
          body: '{"hello":"world"}',
        },
      ]);
    });

    it("of a batch has each item as a publish has it", async () => {
      await client.batch([
        { to: "https://a.example", body: "x", queue: "q", retries: 0 },
        { to: "group", json: [1] },
      ]);

      expect(JSON.parse(arrivals[0]?.body ?? "")).toEqual([
        {
          destination: "https://a.example",
          headers: { "Service-Retries": "0" },
          body: "x",
          queue: "q",
        },
        { destination: "group", headers: { "Content-Type": "application/json" }, body: "[1]" },
      ]);
    });

    it("of the operator has user and password", async () => {
      const management = createManagement({ url, user: "operator", password: "a:b" });
      await management.tokens.revoke("acme", "tok_1");
      management.close();

      expect(arrivals).toMatchObject([
        {
          method: "DELETE",
          target: "/v2/tenants/acme/tokens/tok_1",
          headers: { authorization: `Basic ${Buffer.from("operator:a:b").toString("base64")}` },
        },
      ]);
    });
  });

  describe("an argument that would select more than the caller named is not sent", () => {
    const lost: string = JSON.parse('""') as string;
    it.each([
      ["an empty id", () => client.messages.cancel(lost)],
      ["an id that is a dot", () => client.messages.cancel("..")],
      ["a group that is a dot", () => client.publish({ to: ".." })],
      ["a publish to nothing", () => client.publish({ to: lost })],
      ["an empty list", () => client.deadLetters.removeMany({ query: { dlqIds: [] } })],
      [
        "a filter that is undefined",
        () => client.messages.cancelMany({ query: { label: undefined } as object }),
      ],
      [
        "a filter in a body that is undefined",
        () => client.runs.cancelMany({ body: { workflowUrl: undefined } as object }),
      ],
      ["a setting that is none", () => client.publish({ to: "g", delai: "1s" } as { to: string })],
    ])("%s", async (_, call) => {
      await expect(call()).rejects.toThrow(TypeError);

      expect(arrivals).toEqual([]);
    });
  });

  describe("a header with a forbidden character is not sent, and is named", () => {
    it.each([
      ["in a setting", { label: "a\u0001" }, "Service-Label: has a character"],
      ["in a header that is forwarded", { headers: { "X-A": "b\nc" } }, "Service-Forward-X-A: has"],
      ["in its name", { headers: { "a b": "c" } }, '"Service-Forward-a b": is not a header name'],
      ["in a content type", { contentType: "text/plain\r" }, "Content-Type: has a character"],
    ])("%s", async (_, given, why) => {
      const call = client.publish({ to: "g", ...given });

      await expect(call).rejects.toMatchObject({
        name: "InvalidCall",
        message: expect.stringContaining(why),
      });
      expect(arrivals).toEqual([]);
    });

    it("in a token, whose value is not shown", async () => {
      const careless = createClient({ url, token: "secret\n" });

      const call = careless.queues.list();

      await expect(call).rejects.toThrow(
        /^authorization: has a character that a header may not have$/,
      );
      careless.close();
    });
  });

  describe("a call is made again", () => {
    it.each([
      ["a publish of which nothing was accepted", publishes, refuses(503, "overloaded")],
      ["a publish that came too often", publishes, refuses(429, "too_many_requests")],
      ["a read without an answer", reads, breaksOff],
      ["a read that a proxy could not pass on", reads, refuses(502, "unexpected_answer")],
      ["a deduplicated publish without an answer", deduplicated, breaksOff],
      ["a deduplicated publish of unknown outcome", deduplicated, refuses(503, "outcome_unknown")],
    ])("%s", async (_, call, responder) => {
      respond = first(responder);

      await call();

      expect(arrivals).toHaveLength(2);
    });

    it("twice, and then fails", async () => {
      respond = refuses(503, "overloaded");

      await expect(publishes()).rejects.toMatchObject({ code: "overloaded", status: 503 });

      expect(arrivals).toHaveLength(3);
    });
  });

  describe("a call is made once", () => {
    const cancels = () => client.messages.cancel("msg_1");
    it.each([
      ["a publish without an answer", publishes, breaksOff, "no_answer"],
      [
        "a publish of unknown outcome",
        publishes,
        refuses(503, "outcome_unknown"),
        "outcome_unknown",
      ],
      ["a publish that failed", publishes, refuses(500, "internal"), "internal"],
      ["a cancel without an answer", cancels, breaksOff, "no_answer"],
      ["what is refused", reads, refuses(404, "not_found"), "not_found"],
      [
        "what a full disk refuses, since room takes longer than a call",
        publishes,
        refuses(507, "disk_full", { "Retry-After": "30" }),
        "disk_full",
      ],
      [
        "what should come back in an hour",
        publishes,
        refuses(429, "too_many_requests", { "Retry-After": "3600" }),
        "too_many_requests",
      ],
    ])("%s", async (_, call, responder, code) => {
      respond = responder;

      await expect(call()).rejects.toMatchObject({ name: "PosthasteError", code });

      expect(arrivals).toHaveLength(1);
    });
  });

  it("a call that was refused for lack of space is unchanged when its caller makes it again", async () => {
    respond = first(refuses(507, "disk_full", { "Retry-After": "30" }));

    await expect(deduplicated()).rejects.toMatchObject({
      code: "disk_full",
      retryAfterSeconds: 30,
    });
    await deduplicated();

    expect(arrivals).toHaveLength(2);
    expect(arrivals[1]).toEqual(arrivals[0]);
  });

  describe("a failure", () => {
    it("has the server's text of the fault, and the time of the next try", async () => {
      respond = refuses(429, "too_many_requests", { "Retry-After": "3600" });

      await expect(reads()).rejects.toMatchObject({
        message: "it is too_many_requests",
        status: 429,
        retryAfterSeconds: 3600,
      });
    });

    it("of a server that cannot be reached names it", async () => {
      const nowhere = createClient({ url: "http://127.0.0.1:1", token: "x", retriesMax: 0 });

      await expect(nowhere.queues.list()).rejects.toMatchObject({
        code: "unreachable",
        status: undefined,
        message: expect.stringContaining("http://127.0.0.1:1 cannot be reached"),
      });
    });

    it("of an answer that does not come ends with the time that the call has", async () => {
      respond = () => undefined;
      const hasty = createClient({ url, token: "x", retriesMax: 0, timeoutMs: 50 });

      await expect(hasty.queues.list()).rejects.toMatchObject({ code: "no_answer" });
      hasty.close();
    });

    it("of a server that is not Posthaste says so", async () => {
      respond = (response) => response.end("<html>");
      await expect(reads()).rejects.toMatchObject({ code: "unexpected_answer" });

      respond = (response) => response.writeHead(403).end("<html>");
      await expect(reads()).rejects.toBeInstanceOf(PosthasteError);
      await expect(reads()).rejects.toMatchObject({ code: "unexpected_answer", status: 403 });
    });

    it("of a caller that wants no answer any more is the caller's own", async () => {
      const controller = new AbortController();
      respond = () => controller.abort(new Error("enough"));

      await expect(client.messages.read("msg_1", { signal: controller.signal })).rejects.toThrow(
        "enough",
      );
    });

    it.each(["", "localhost:8080", "ftp://a.example"])("of an address like %j", (bad) => {
      expect(() => createClient({ url: bad, token: "x" })).toThrow("url: must begin with http");
    });
  });

  describe("pages", () => {
    const pages: Responder = (response, nth) =>
      response.end(
        JSON.stringify({ events: [{ messageId: `msg_${nth}` }], cursor: ["a", "b", ""][nth] }),
      );

    it("come one after another, to the last", async () => {
      respond = pages;
      const seen: string[] = [];
      for await (const event of client.each("listEvents", { label: "x" }))
        seen.push(event.messageId);

      expect(seen).toEqual(["msg_0", "msg_1", "msg_2"]);
      expect(arrivals.map(({ target }) => target)).toEqual([
        "/v2/events?label=x",
        "/v2/events?label=x&cursor=a",
        "/v2/events?label=x&cursor=b",
      ]);
    });

    it("are requested only as far as they are read", async () => {
      respond = pages;
      for await (const event of client.each("listEvents")) if (event.messageId === "msg_1") break;

      expect(arrivals).toHaveLength(2);
    });

    it("of a selection in a body keep it", async () => {
      respond = pages;
      const asked = { body: { label: "x" } };
      const answers: object[] = [];
      for await (const page of client.pages("removeDeadLetters", asked)) answers.push(page);

      expect(answers).toHaveLength(3);
      expect(arrivals.map(({ body }) => JSON.parse(body) as object)).toEqual([
        { label: "x" },
        { label: "x", cursor: "a" },
        { label: "x", cursor: "b" },
      ]);
    });
  });

  describe("the log, followed", () => {
    const event = (messageId: string, state = "CREATED") => ({ messageId, state, time: 1 });
    const pages =
      (...answers: readonly (Responder | object)[]): Responder =>
      (response, nth) => {
        const answer = answers[nth] ?? breaksOff;
        if (typeof answer === "function") (answer as Responder)(response, nth);
        else response.end(JSON.stringify(answer));
      };

    async function some(count: number): Promise<readonly string[]> {
      const told: string[] = [];
      for await (const { messageId, state } of client.follow({ label: "a" })) {
        told.push(`${messageId} ${state}`);
        if (told.length === count) break;
      }
      return told;
    }

    it("continues after each answer, returns no event twice, and waits for a server that stops", async () => {
      respond = pages(
        { cursor: "1", events: [] },
        { cursor: "2", events: [event("a")] },
        breaksOff,
        breaksOff,
        breaksOff,
        { cursor: "3", events: [event("a"), event("a", "DELIVERED"), event("b")] },
      );

      expect(await some(3)).toEqual(["a CREATED", "a DELIVERED", "b CREATED"]);
      const cursors = arrivals.map(({ target }) => new URL(target ?? "", url).searchParams);
      expect(cursors.map((query) => query.get("cursor"))).toEqual([null, "1", "2", "2", "2", "2"]);
      expect(new Set(cursors.map((query) => `${query.get("label")} ${query.get("wait")}`))).toEqual(
        new Set(["a 25"]),
      );
    });

    it("is refused at once if its first call is, and also if a later one would be", async () => {
      respond = refuses(403, "forbidden");
      await expect(some(1)).rejects.toMatchObject({ code: "forbidden" });

      arrivals.length = 0;
      respond = pages({ cursor: "1", events: [] }, refuses(400, "malformed"));
      await expect(some(1)).rejects.toMatchObject({ code: "malformed" });
    });

    it("ends with its signal", async () => {
      const ended = new AbortController();
      respond = (response, nth) => {
        if (nth === 0) response.end(JSON.stringify({ cursor: "1", events: [] }));
        else ended.abort();
      };

      const told = client.follow({}, { signal: ended.signal });
      await expect(told.next()).rejects.toMatchObject({ name: "AbortError" });
    });
  });
});

describe("connections over got", () => {
  it("are kept: successive calls go over one connection", async () => {
    const own = overGot.createClient({ url, token: "secret" });
    const before = connections;

    await own.messages.read("msg_1");
    await own.queues.list();
    await own.publish({ to: "https://a.example/x" });
    own.close();

    expect(connections - before).toBe(1);
  });
});
