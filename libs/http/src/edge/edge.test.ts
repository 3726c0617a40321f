import { afterEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { isFault } from "@posthaste/domain";
import { StoreError } from "@posthaste/ports";
import { recordingLog } from "@posthaste/testing";
import { createReadiness } from "@posthaste/process";
import { answer } from "../answers/answer.ts";
import { createBodyBudget, readBody } from "../bodies/body.ts";
import { type Edge } from "./edge.ts";
import { hostClock, rawExchange, request, testEdge } from "./raw-exchange.fixture.ts";
import { noteTraceOfFailure } from "../answers/trace-of-failure.ts";

const owner = { tenant: "t", address: "192.0.2.1" };
const edges: Edge[] = [];

async function started(...args: Parameters<typeof testEdge>): ReturnType<typeof testEdge> {
  const made = await testEdge(...args);
  edges.push(made.edge);
  return made;
}

afterEach(async () => {
  await Promise.all(edges.splice(0).map((edge) => edge.stop()));
});

const errorOf = (body: string | undefined): unknown => JSON.parse(body ?? "");

describe("requests that the edge refuses", () => {
  const post = "POST /v2/publish/https://a.b HTTP/1.1";
  const coding = (name: string): string => `Transfer-Encoding: ${name}`;
  const chunked = coding("chunked");
  const vectors: readonly (readonly [string, string, number])[] = [
    ["two Host headers", request(post, ["Host: b"]), 400],
    ["two Host headers in different case", request(post, ["hOST: a"]), 400],
    ["no Host header", `${post}\r\nConnection: close\r\n\r\n`, 400],
    ["an absolute target with credentials", request("POST http://a@b/v2/publish/x HTTP/1.1"), 400],
    ["a fragment in the target", request("POST /v2/publish/https://a.b/#f HTTP/1.1"), 400],
    ["257 headers", request(post, Array<string>(255).fill("a: b")), 431],
    ["1,500 headers", request(post, Array<string>(1_500).fill("a: b")), 431],
    ["a header block above 32 KiB", request(post, [`a: ${"x".repeat(33 * 1024)}`]), 431],
    ["a target above 32 KiB", request(`POST /${"x".repeat(33 * 1024)} HTTP/1.1`), 431],
    ["a length and chunks", request(post, ["Content-Length: 1", chunked], "0\r\n\r\n"), 400],
    ["two lengths", request(post, ["Content-Length: 1", "Content-Length: 2"], "ab"), 400],
    ["two equal lengths", request(post, ["Content-Length: 5", "Content-Length: 5"], "hello"), 400],
    ["a list of lengths", request(post, ["Content-Length: 5, 5"], "hello"), 400],
    ["a negative length", request(post, ["Content-Length: -5"], "hello"), 400],
    ["a length with a sign", request(post, ["Content-Length: +5"], "abcde"), 400],
    ["a length in hexadecimal", request(post, ["Content-Length: 0x5"], "abcde"), 400],
    ["a transfer coding that is none", request(post, ["Transfer-Encoding: xchunked"], "x"), 400],
    ["chunks that are not last", request(post, [`${chunked}, identity`], "0\r\n\r\n"), 400],
    ["identity and chunks", request(post, [coding("identity, chunked")], "0\r\n\r\n"), 400],
    ["compressed chunks", request(post, ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"), 400],
    ["chunks twice", request(post, [chunked, chunked], "0\r\n\r\n"), 400],
    ["chunks with a parameter", request(post, [`${chunked};q=1`], "0\r\n\r\n"), 400],
    ["a chunk size that is none", request(post, [chunked], "x\r\nhello\r\n0\r\n\r\n"), 400],
    ["a negative chunk size", request(post, [chunked], "-5\r\nhello\r\n0\r\n\r\n"), 400],
    ["a header without a colon", request(post, ["X-None"]), 400],
    ["a header without a name", request(post, [": a"]), 400],
    ["a bare carriage return", request(post, ["X-Bare: a\rX-Evil: b"]), 400],
    ["a target without a slash", request("GET v2/keys HTTP/1.1"), 400],
    ["another protocol", request("GET /v2/keys SIP/2.0"), 400],
    ["HTTP/2 without being asked", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["a bare line feed", `${post}\nHost: a\n\n`, 400],
    ["a folded header", request(post, ["a: b\r\n c"]), 400],
    ["a space before the colon", request(post, ["a : b"]), 400],
    ["a NUL in a header", request(post, ["a: b\0c"]), 400],
    ["a line feed in a chunk extension", request(post, [chunked], "1;a\nb\r\nx\r\n0\r\n\r\n"), 400],
    ["a method that is none", request("BREW / HTTP/1.1"), 400],
    [
      "TLS on a plain port",
      "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003\r\n\r\n",
      400,
    ],
  ];

  it.each(vectors)("%s: a JSON error, and the connection closes", async (_, bytes, status) => {
    const { edge } = await started({
      handle: (faults) => async (_req, res) => {
        const budget = createBodyBudget(hostClock);
        const body = await readBody(res, { bytesMax: 1_000, budget, owner });
        if (isFault(body)) faults.fault(res, body);
        else answer(res, 200, "");
      },
    });

    const answers = await rawExchange(edge.port, Buffer.from(bytes, "latin1"));

    expect(answers.map((one) => one.status)).toEqual([status]);
    expect(answers[0]?.head).toMatch(/content-type: application\/json/i);
    expect(answers[0]?.head).toMatch(/connection: close/i);
    expect(errorOf(answers[0]?.body)).toEqual({ error: expect.any(String) });
  });
});

describe("requests that the edge lets through", () => {
  it.each([
    ["256 headers", request("GET / HTTP/1.1", Array<string>(254).fill("a: b"))],
    [
      "a target with a double slash and a query",
      request("POST /v2/publish/https://a.b/?x=y// HTTP/1.1"),
    ],
    ["HTTP/1.0 without a Host", "GET / HTTP/1.0\r\n\r\n"],
    ["an absolute target", request("GET http://a.example:80/v2/keys HTTP/1.1")],
    ["TRACE, for the routes to refuse", request("TRACE / HTTP/1.1")],
    ["GET with a body", request("GET / HTTP/1.1", ["Content-Length: 2"], "{}")],
  ])("%s", async (_, bytes) => {
    const { edge } = await started();

    const answers = await rawExchange(edge.port, bytes);

    expect(answers.map(({ body }) => body)).toEqual([`{"error":"got through"}`]);
  });

  it("gives the handler the target as it stood on the wire", async () => {
    const targets: unknown[] = [];
    const { edge } = await started({
      handler: (req, res) => {
        targets.push(req.url);
        answer(res, 200, "");
        return undefined;
      },
    });

    const target = "/v2/publish/https://a.b/../%2e%2e/x?u=https://c.d/?z=1&w=%23";
    await rawExchange(edge.port, request(`POST ${target} HTTP/1.1`));

    expect(targets).toEqual([target]);
  });
});

describe("broken bytes behind a whole request", () => {
  it("do not take its answer's place", async () => {
    const { edge } = await started({
      handler: (_req, res) => {
        setImmediate(() => setImmediate(() => answer(res, 200, `{"mine":true}`)));
        return undefined;
      },
    });

    const answers = await rawExchange(edge.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\nBREW\r\n\r\n");

    expect(answers.map(({ body }) => body)).toEqual([`{"mine":true}`]);
  });

  it("after an answer that was given already close the connection", async () => {
    const { edge } = await started();

    const bytes = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
    const answers = await rawExchange(edge.port, bytes);

    expect(answers.map(({ body }) => body)).toEqual([`{"error":"got through"}`]);
  });
});

it("a broken request in many chunks is answered once, and adds no listeners", async () => {
  const open: ServerResponse[] = [];
  const { edge } = await started({ handler: (_req, res) => (open.push(res), undefined) });
  const socket = connect(edge.port, "127.0.0.1").setNoDelay(true);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const closed = once(socket, "close");

  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  for (let chunk = 0; chunk < 40; chunk++) {
    await new Promise<void>((resolve) => socket.write("\0broken\r\n", () => resolve()));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const listeners = open.map((res) => res.listenerCount("finish"));
  for (const res of open) answer(res, 200, `{"mine":true}`);
  await closed;

  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  expect(listeners).toEqual([expect.any(Number)]);
  expect(Math.max(...listeners)).toBeLessThan(5);
});

it("CONNECT is answered 405 in JSON, and the connection closes", async () => {
  const { edge } = await started();

  const [got] = await rawExchange(edge.port, request("CONNECT a.b:443 HTTP/1.1"));

  expect(got?.status).toBe(405);
  expect(errorOf(got?.body)).toEqual({ error: expect.any(String) });
});

it("a caller that sends all before it reads sees why a long body was refused", async () => {
  const { edge } = await started({
    handle: (answers) => async (_req, res) => {
      const body = await readBody(res, {
        bytesMax: 1_000,
        budget: createBodyBudget(hostClock),
        owner,
      });
      if (isFault(body)) answers.fault(res, body);
    },
  });
  const bytes = 16 * 1024 * 1024;
  const socket = connect(edge.port, "127.0.0.1").pause();
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;

  const sent = new Promise<Error | undefined>((resolve) => {
    socket.on("error", resolve);
    socket.write(head + "x".repeat(bytes), () => resolve(undefined));
  });

  expect(await sent).toBeUndefined();
  const [chunk] = (await once(socket.resume(), "data")) as [Buffer];
  expect(chunk.toString()).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
});

describe("slow callers", () => {
  const limits = { headersMsMax: 100, requestMsMax: 200, checkEveryMs: 20 };

  it("that do not finish their headers are answered 408", async () => {
    const { edge } = await started({ limits });

    const answers = await rawExchange(edge.port, "GET / HTTP/1.1\r\nHost: a\r\n");

    expect(answers.map((one) => one.status)).toEqual([408]);
    expect(errorOf(answers[0]?.body)).toEqual({ error: "the request took too long" });
  });

  it("that do not finish their body are answered 408", async () => {
    const { edge } = await started({ limits, handler: () => undefined });

    const bytes = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc";
    const answers = await rawExchange(edge.port, bytes);

    expect(answers.map((one) => one.status)).toEqual([408]);
  });

  it("lose an idle connection after its time", async () => {
    const { edge } = await started({ limits: { idleMsMax: 50 } });

    const answers = await rawExchange(edge.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");

    expect(answers.map((one) => one.status)).toEqual([404]);
  });
});

describe("a handler that throws", () => {
  it.each([
    [
      "at once",
      () => () => {
        throw new Error("secret of ours");
      },
    ],
    [
      "later",
      () => async () => {
        throw new Error("secret of ours");
      },
    ],
  ])("%s is answered 500 with only an id that the log has", async (_, handle) => {
    const log = recordingLog();
    const { edge } = await started({ handle, log });

    const [got] = await rawExchange(edge.port, request("GET / HTTP/1.1"));

    const errorId = /^\{"error":"internal error (\w{12})"\}$/.exec(got?.body ?? "")?.[1];
    expect(got?.status).toBe(500);
    expect(log.lines.find(({ event }) => event === "request.failed")?.fields["errorId"]).toBe(
      errorId,
    );
  });

  it("in a trace leaves a line that says which", async () => {
    const log = recordingLog();
    const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
    const handle = () => async (req: IncomingMessage) => {
      noteTraceOfFailure(req, `00-${traceId}-${spanId}-01`);
      throw new Error("secret of ours");
    };
    const { edge } = await started({ handle, log });

    await rawExchange(edge.port, request("GET / HTTP/1.1"));

    expect(log.lines.find(({ event }) => event === "request.failed")?.fields).toMatchObject({
      traceId,
      spanId,
    });
  });

  it.each([
    ["disk_full", 507, /retry-after: (29|3[0-3])\r\n/i],
    ["overloaded", 503, /retry-after: [1-5]\r\n/i],
    ["unavailable", 503, /retry-after: [1-5]\r\n/i],
  ] as const)(
    "because the store is %s is answered %i with Retry-After",
    async (code, status, retryAfter) => {
      const handle = () => async () => {
        throw new StoreError(code, "secret of ours");
      };
      const { edge } = await started({ handle });

      const [got] = await rawExchange(edge.port, request("GET / HTTP/1.1"));

      expect(got?.status).toBe(status);
      expect(got?.head).toMatch(retryAfter);
      expect(got?.body).not.toContain("secret");
    },
  );

  it("because an index is being built is answered 503 with the index's name", async () => {
    const text = "the indexes of messages are being built: 45 %";
    const handle = () => async () => {
      throw new StoreError("indexing", text);
    };
    const { edge } = await started({ handle });

    const [got] = await rawExchange(edge.port, request("GET / HTTP/1.1"));

    expect(got?.status).toBe(503);
    expect(got?.head).toMatch(/retry-after: [1-5]\r\n/i);
    expect(errorOf(got?.body)).toEqual({ error: text });
  });
});

describe("health", () => {
  it("shows that the process runs while it is not ready, and the missing part", async () => {
    const readiness = createReadiness();
    readiness.set("store", "starting");
    const { edge } = await started({ readiness });

    const [health] = await rawExchange(edge.port, request("GET /healthz HTTP/1.1"));
    const [before] = await rawExchange(edge.port, request("GET /readyz HTTP/1.1"));
    readiness.set("store", undefined);
    const [after] = await rawExchange(edge.port, request("GET /readyz HTTP/1.1"));

    expect(health?.status).toBe(200);
    expect(before?.status).toBe(503);
    expect(errorOf(before?.body)).toEqual({ ready: false, missing: ["store: starting"] });
    expect(after?.status).toBe(200);
    expect(errorOf(after?.body)).toEqual({ ready: true });
  });

  it("may only be read", async () => {
    const { edge } = await started({ readiness: createReadiness() });

    const [got] = await rawExchange(edge.port, request("POST /readyz HTTP/1.1"));

    expect(got?.status).toBe(405);
    expect(got?.head).toContain("Allow: GET\r\n");
  });
});

describe("each answer", () => {
  it.each([
    ["of the handler", request("GET /x HTTP/1.1"), 404],
    ["of a refused head", request("GET /x HTTP/1.1", ["Host: b"]), 400],
    ["of what is no request", "BREW\r\n\r\n", 400],
  ])("%s names its content type and forbids guessing another", async (_, bytes, status) => {
    const { edge } = await started();

    const [got] = await rawExchange(edge.port, bytes);

    expect(got?.status).toBe(status);
    expect(got?.head).toContain("Content-Type: application/json\r\n");
    expect(got?.head).toContain("X-Content-Type-Options: nosniff\r\n");
  });
});

describe("other origins", () => {
  const preflight = request("OPTIONS /v2/publish/x HTTP/1.1", [
    "Origin: https://console.example",
    "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: authorization,upstash-delay",
  ]);

  it("may call with every header where any origin is allowed", async () => {
    const { edge } = await started({ origins: "any" });

    const [got] = await rawExchange(edge.port, preflight);
    const [call] = await rawExchange(edge.port, request("GET / HTTP/1.1", ["Origin: https://x"]));

    expect(got?.status).toBe(204);
    expect(got?.head).toContain("Access-Control-Allow-Headers: authorization,upstash-delay\r\n");
    expect(call?.head).toContain("Access-Control-Allow-Origin: *\r\n");
    expect(call?.head).not.toContain("Allow-Credentials");
  });

  it.each([
    ["Host: 127.0.0.1:8080", "Origin: http://localhost:3000", 404],
    ["Host: localhost", "Origin: https://app.localhost", 404],
    ["Host: LOCALHOST:1", "Origin: http://[::1]:5173", 404],
    ["Host: posthaste:8080", "Accept: */*", 404],
    ["Host: [::1]:8080", "Origin: http://127.8.8.8", 404],
    ["Host: 127.0.0.1", "Origin: https://evil.example", 403],
    ["Host: 127.0.0.1", "Origin: null", 403],
    ["Host: 127.0.0.1", "Origin: http://posthaste", 403],
    ["Host: 127.0.0.1", "Origin: http://localhost.evil.example", 403],
    ["Host: 127.0.0.1", "Origin: http://localhost:80@evil.example", 403],
    ["Host: 127.0.0.1", "Origin: http://127.0.0.1.evil.example:8080", 403],
    ["Host: rebound.evil.example:8080", "Accept: */*", 403],
    ["Host: rebound.evil.example", "Origin: http://localhost", 403],
    ["Host: 127.0.0.1.evil.example", "Accept: */*", 403],
    ["Host: 10.0.0.1", "Accept: */*", 403],
  ])("of this machine alone are served in the dev profile: %s, %s is %d", async (...given) => {
    const [host, origin, status] = given;
    const { edge } = await started({ origins: "local" });
    const head = [host, origin, "Connection: close"].join("\r\n");

    const [got] = await rawExchange(edge.port, `GET /x HTTP/1.1\r\n${head}\r\n\r\n`);

    expect(got?.status).toBe(status);
    if (status === 403) {
      expect(got?.head).not.toContain("Access-Control");
      expect(errorOf(got?.body)).toEqual({
        error: expect.stringContaining("POSTHASTE_DEV_ORIGINS=any opens it"),
      });
    }
  });

  it("get no such header elsewhere", async () => {
    const { edge } = await started();

    const [got] = await rawExchange(edge.port, preflight);

    expect(got?.head).not.toContain("Access-Control");
  });
});

describe("stopping", () => {
  it("answers requests in flight, refuses new ones and ends when all are answered", async () => {
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    let finish = (): void => undefined;
    const { edge } = await testEdge({
      handler: (_req, res) => {
        finish = () => answer(res, 200, `{"late":true}`);
        arrived();
        return undefined;
      },
      drainMs: 60_000,
    });
    const inFlight = rawExchange(edge.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await arrival;

    const stopped = edge.stop();
    const late = rawExchange(edge.port, request("GET / HTTP/1.1")).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(await late).toBe("ECONNREFUSED");
    finish();
    await stopped;

    expect((await inFlight).map(({ body }) => body)).toEqual([`{"late":true}`]);
  });

  it("announces the end of the connection to a caller that sends another request on it", async () => {
    const open: ServerResponse[] = [];
    const { edge } = await testEdge({ handler: (_req, res) => (open.push(res), undefined) });
    const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const socket = connect(edge.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const closed = once(socket, "close");
    socket.write(get);
    while (open.length < 1) await new Promise((resolve) => setImmediate(resolve));

    const stopped = edge.stop();
    socket.write(get);
    while (open.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const res of open) answer(res, 200, "");
    await Promise.all([stopped, closed]);

    expect(text.match(/Connection: [\w-]+/g)).toEqual([
      "Connection: keep-alive",
      "Connection: close",
    ]);
  });

  it("does not wait for ever for callers that never finish", async () => {
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const { edge } = await testEdge({ handler: () => (arrived(), undefined), drainMs: 50 });
    const socket = connect(edge.port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await arrival;

    const closed = once(socket, "close");
    await edge.stop();

    await closed;
  });
});

describe("starting", () => {
  it("on a port that is taken says which, and why not", async () => {
    const { edge } = await started();

    await expect(testEdge({ port: edge.port })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${edge.port}: the port is taken (EADDRINUSE)`,
    );
  });
});
