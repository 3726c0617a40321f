import { afterEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { connect } from "node:net";
import { type Pieces } from "@posthaste/contract";
import { type Fault, fault } from "@posthaste/domain";
import { type Log, StoreError } from "@posthaste/ports";
import { recordingLog, turn, until } from "@posthaste/testing";
import { type Edge } from "../edge/edge.ts";
import { createExpressApp } from "../router.ts";
import { rawExchange, request, testEdge } from "../edge/raw-exchange.fixture.ts";

const edges: Edge[] = [];
afterEach(async () => {
  for (const edge of edges.splice(0)) await edge.stop();
});

const serve = (pieces: () => AsyncIterable<string | Fault>, log?: Log): Promise<number> =>
  serveRead(async () => ({ pieces: pieces() }), log);

async function serveRead(read: () => Promise<Pieces>, log?: Log): Promise<number> {
  const { edge } = await testEdge({
    ...(log && { log }),
    handle: (answers) => {
      const work = async () => ({ status: 200, owner: "a", read });
      const app = createExpressApp([{ path: "/list", method: "get", handle: work }], answers);
      return (req, res) => (app(req, res), undefined);
    },
  });
  edges.push(edge);
  return edge.port;
}

const get = request("GET /list HTTP/1.1");
describe("an answer in pieces", () => {
  it("arrives whole", async () => {
    const port = await serve(async function* () {
      yield "[1";
      yield ",2]";
    });

    const answer = await fetch(`http://127.0.0.1:${port}/list`);

    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("content-length")).toBe("5");
    expect(await answer.json()).toEqual([1, 2]);
  });

  it("arrives whole also when it is long", async () => {
    const texts = Array.from({ length: 300 }, (_, i) => String(i).repeat(1_000));
    const port = await serve(async function* () {
      for (const text of texts) yield text;
    });

    const answer = await fetch(`http://127.0.0.1:${port}/list`);

    expect(answer.headers.get("content-length")).toBeNull();
    expect(await answer.text()).toBe(texts.join(""));
  });

  it("is made no faster than the caller reads", async () => {
    let made = 0;
    const piece = "x".repeat(1024 * 1024);
    const port = await serve(async function* () {
      for (; made < 500; made++) yield piece;
    });
    const socket = connect(port, "127.0.0.1").pause();
    socket.write(get);
    await until(() => made > 0);
    let before = -1;
    // The kernel buffers a few megabytes; then the stream waits for the caller.
    for (let still = 0; still < 2_000; still++) {
      if (made !== before) still = 0;
      before = made;
      await turn();
    }

    expect(made).toBeLessThan(50);
    socket.destroy();
  });

  it("ends its source when the caller goes", async () => {
    let ended = (): void => undefined;
    const end = new Promise<void>((resolve) => (ended = resolve));
    const port = await serve(async function* () {
      try {
        for (;;) yield "x".repeat(1024 * 1024);
      } finally {
        ended();
      }
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(get);
    await once(socket, "data");

    socket.destroy();

    await end;
  });

  it("that is refused before its first piece is a refusal like any other", async () => {
    const port = await serve(async function* () {
      yield fault("not_found", "no such list");
    });

    const answer = await fetch(`http://127.0.0.1:${port}/list`);

    expect([answer.status, await answer.json()]).toEqual([404, { error: "no such list" }]);
  });

  it("is begun when a permit is free: three of one owner are read at a time", async () => {
    let reading = 0;
    let readingMost = 0;
    const letGo: (() => void)[] = [];
    async function* read(): AsyncIterable<string> {
      readingMost = Math.max(readingMost, ++reading);
      await new Promise<void>((resolve) => letGo.push(resolve));
      reading -= 1;
      yield "{}";
    }
    const port = await serve(read);

    const answers = Array.from({ length: 12 }, () => fetch(`http://127.0.0.1:${port}/list`));
    await until(() => reading >= 3);
    for (let answered = 0; answered < 12; answered++) {
      await until(() => letGo.length > 0);
      letGo.shift()?.();
    }

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(readingMost).toBe(3);
  });

  it("of one long text ends with its permit, though others wait behind it", async () => {
    const letGo: (() => void)[] = [];
    const port = await serveRead(async () => {
      await new Promise<void>((resolve) => letGo.push(resolve));
      return { text: JSON.stringify("x".repeat(200_000)) };
    });
    let ended = 0;
    const answers = Array.from({ length: 6 }, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/list`);
      const text = await answer.text();
      ended += 1;
      return text.length;
    });
    await until(() => letGo.length >= 3);
    for (const go of letGo.splice(0)) go();
    await until(() => ended >= 3);

    await until(() => letGo.length >= 3);
    for (const go of letGo) go();
    expect(await Promise.all(answers)).toEqual(Array(6).fill(200_002));
  });

  it("that fails before its first piece is answered as any other failure", async () => {
    const failing = new StoreError("unavailable", "secret of ours");
    const port = await serve(() => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failing) }),
    }));

    const [got] = await rawExchange(port, get);

    expect(got?.status).toBe(503);
  });

  it("that fails later breaks off, so that the caller knows it is not whole", async () => {
    const log = recordingLog();
    const port = await serve(async function* () {
      yield "x".repeat(100_000);
      throw new Error("secret of ours");
    }, log);

    const answer = await fetch(`http://127.0.0.1:${port}/list`);

    await expect(answer.text()).rejects.toThrow();
    expect(log.lines.map(({ event }) => event)).toContain("answer.cut");
  });
});
