import { afterEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isFault } from "@posthaste/domain";
import { answer } from "../answers/answer.ts";
import { virtualClock } from "@posthaste/testing";
import { type BodyBudget, createBodyBudget, readBody } from "./body.ts";
import { type Edge, type RequestHandler } from "../edge/edge.ts";
import { createExpressApp, type Route } from "../router.ts";
import { type Answers } from "../answers/answers.ts";
import { hostClock, rawExchange, request, testEdge } from "../edge/raw-exchange.fixture.ts";

const bytesMax = 1_000;
const owner = { tenant: "t", address: "192.0.2.1" };
let edge: Edge | undefined;
let budget: BodyBudget = createBodyBudget(hostClock);

const reader =
  (answers: Answers): RequestHandler =>
  async (_req, res) => {
    const body = await readBody(res, { bytesMax, budget, owner });
    if (isFault(body)) answers.fault(res, body);
    else answer(res, 200, String(body.length));
  };

async function start(itsBudget = createBodyBudget(hostClock)): Promise<number> {
  budget = itsBudget;
  ({ edge } = await testEdge({ handle: reader }));
  return edge.port;
}

afterEach(() => edge?.stop());

const post = "POST / HTTP/1.1";
const withLength = (bytes: number): string =>
  request(post, [`Content-Length: ${bytes}`], "x".repeat(bytes));
const inChunks = (chunks: readonly string[]): string =>
  request(
    post,
    ["Transfer-Encoding: chunked"],
    [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join(""),
  );

describe("a body", () => {
  it.each([
    ["of no bytes", withLength(0), 0],
    ["of one byte less than allowed", withLength(bytesMax - 1), bytesMax - 1],
    ["of exactly as many bytes as allowed", withLength(bytesMax), bytesMax],
    ["that does not exist", request("GET / HTTP/1.1"), 0],
    ["in several chunks", inChunks(["ab", "c".repeat(500), "d"]), 503],
  ])("%s is read whole", async (_, bytes, length) => {
    const [got] = await rawExchange(await start(), bytes);

    expect(got).toMatchObject({ status: 200, body: String(length) });
  });

  it.each([
    ["by its length", withLength(bytesMax + 1)],
    ["by what arrives in chunks", inChunks(Array<string>(11).fill("x".repeat(100)))],
    ["by far", withLength(3_000_000)],
  ])("that is too large %s is answered 413, and the connection closes", async (_, bytes) => {
    const answers = await rawExchange(await start(), bytes.replace("Connection: close\r\n", ""));

    expect(answers.map(({ status }) => status)).toEqual([413]);
    expect(answers[0]?.head).toContain("Connection: close\r\n");
    expect(answers[0]?.body).toContain("quota maxMessageSize exceeded");
  });

  it("that never ends is cut after a few megabytes", async () => {
    const socket = connect(await start(), "127.0.0.1");
    socket.on("error", () => undefined).resume();
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    const closed = new Promise((resolve) => socket.on("drain", write).on("close", resolve));

    write();

    await closed;

    // 32 MiB are read and dropped; the rest is in buffers on the way.
    expect(socket.bytesWritten).toBeLessThan(64_000_000);
  });

  it("that is too large is refused before it is sent, if the caller expects 100-continue", async () => {
    const bytes = request(post, ["Expect: 100-continue", "Content-Length: 5000"]);

    const answers = await rawExchange(await start(), bytes);

    expect(answers.map(({ status }) => status)).toEqual([413]);
  });

  it("is requested by 100-continue, if the caller waits for that", async () => {
    const bytes = request(post, ["Expect: 100-continue", "Content-Length: 5"], "abcde");

    const answers = await rawExchange(await start(), bytes);

    expect(answers.map(({ status }) => status)).toEqual([100, 200]);
  });

  it("that the caller does not finish is given back", async () => {
    const port = await start();
    const socket = connect(port, "127.0.0.1");
    socket.write(withLength(500).slice(0, -100));
    while (budget.taken === 0) await new Promise((resolve) => setImmediate(resolve));

    socket.destroy();
    await once(socket, "close");
    while (budget.taken > 0) await new Promise((resolve) => setImmediate(resolve));

    const [next] = await rawExchange(port, withLength(5));
    expect(next?.status).toBe(200);
  });
});

describe("an upload that makes no progress", () => {
  it("is answered 408 within ten seconds, and gives its bytes back", async () => {
    const clock = virtualClock();
    const port = await start(createBodyBudget(clock));
    const answers = rawExchange(port, withLength(500).slice(0, -100));
    while (budget.taken === 0) await new Promise((resolve) => setImmediate(resolve));

    await clock.advance(10_000);

    expect((await answers).map(({ status }) => status)).toEqual([408]);
    expect(budget.taken).toBe(0);
  });
});

it("a body in one-byte chunks costs its size, and not an object and a block for each chunk", async () => {
  const count = 200_000;
  const arrived: IncomingMessage[] = [];
  budget = createBodyBudget(hostClock);
  ({ edge } = await testEdge({
    handler: async (req, res) => {
      arrived.push(req);
      await readBody(res, { bytesMax: 2 * count, budget, owner });
    },
  }));
  const before = heapBytes();
  const socket = connect(edge.port, "127.0.0.1");
  socket.write(`${post}\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
  socket.write("1\r\nx\r\n".repeat(count));
  while (budget.taken < count) await new Promise((resolve) => setImmediate(resolve));

  const grown = heapBytes() - before;

  expect(arrived).toHaveLength(1);
  expect(grown).toBeLessThan(8 * 1024 * 1024);
  socket.destroy();
});

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe("the budget", () => {
  it("that is used up is answered 503 with Retry-After before the body is read", async () => {
    const bytes = request(post, ["Expect: 100-continue", "Content-Length: 101"]);

    const answers = await rawExchange(
      await start(createBodyBudget(hostClock, { bytesMax: 0 })),
      bytes,
    );

    expect(answers.map(({ status }) => status)).toEqual([503]);
    expect(answers[0]?.head).toMatch(/retry-after: [1-5]\r\n/i);
  });

  it("that chunks pass is answered 503", async () => {
    const chunks = Array<string>(3).fill("x".repeat(50));

    const [got] = await rawExchange(
      await start(createBodyBudget(hostClock, { bytesMax: 100 })),
      inChunks(chunks),
    );

    expect(got?.status).toBe(503);
  });

  it("is taken while a request is in flight, and given back with its answer", async () => {
    const seen: number[] = [];
    const shared = createBodyBudget(hostClock);
    ({ edge } = await testEdge({
      handler: async (_req, res) => {
        await readBody(res, { bytesMax, budget: shared, owner });
        seen.push(shared.taken);
        answer(res, 200, "");
      },
    }));

    await rawExchange(edge.port, withLength(700));
    await rawExchange(edge.port, withLength(300));

    expect(seen).toEqual([700, 300]);
    expect(shared.taken).toBe(0);
  });

  it.each<[string, (work: Work, answers: Answers) => RequestHandler]>([
    ["", (work) => work],
    [", of an endpoint", routed],
  ])(
    "is taken until the work ends of a caller that goes before its answer%s",
    async (_, handlerOf) => {
      const shared = createBodyBudget(hostClock);
      const { promise: isGone, resolve: go } = Promise.withResolvers<void>();
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
      const work: Work = async (_req, res) => {
        res.once("close", go);
        await readBody(res, { bytesMax, budget: shared, owner });
        await mayEnd;
      };
      ({ edge } = await testEdge({ handle: (answers) => handlerOf(work, answers) }));
      const socket = connect(edge.port, "127.0.0.1");
      socket.write(withLength(700));
      while (shared.taken < 700) await new Promise((resolve) => setImmediate(resolve));

      socket.destroy();
      await isGone;

      expect(shared.taken).toBe(700);
      end();
      while (shared.taken > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  );
});

type Work = (req: IncomingMessage, res: ServerResponse<IncomingMessage>) => Promise<void>;

function routed(work: Work, answers: Answers): RequestHandler {
  const route: Route = {
    method: "post",
    path: "/",
    handle: async (req, res) => {
      await work(req, res);
      return { status: 200, body: "" };
    },
  };
  const app = createExpressApp([route], answers);
  return (req, res) => (app(req, res), undefined);
}
