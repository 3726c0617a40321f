import { afterEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { createReadiness } from "@posthaste/process";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { answer } from "../answers/answer.ts";
import { addressSet } from "../caller-ip.ts";
import { createConnections } from "./connections.ts";
import { type Edge, type RequestHandler } from "./edge.ts";
import { testEdge } from "./raw-exchange.fixture.ts";

/** 16 connections, one of them the reserve. Once half of the places are taken, an address may have four. */
const limits = { connectionsMax: 16 };
const mine = "127.0.0.1";
const theirs = "127.0.0.2";

let edge: Edge | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await edge?.stop();
});

async function start(
  handler: RequestHandler = (_req, res) => (answer(res, 200, "{}"), undefined),
  trustedProxies = addressSet([]),
) {
  ({ edge } = await testEdge({ limits, handler, readiness: createReadiness(), trustedProxies }));
}

async function connected(localAddress: string): Promise<Socket> {
  const socket = connect({ port: edge?.port ?? 0, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function connectedAll(localAddress: string, count: number): Promise<Socket[]> {
  const all: Socket[] = [];
  for (let i = 0; i < count; i++) all.push(await connected(localAddress));
  return all;
}

async function asked(socket?: Socket, path = "/x", client?: string): Promise<number | "cut"> {
  if (!socket?.readable) return "cut";
  const ended = Promise.race([once(socket, "data"), once(socket, "close").then(() => [])]);
  const seen = client === undefined ? "" : `X-Forwarded-For: ${client}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${seen}\r\n`);
  const [chunk] = await ended;
  return Buffer.isBuffer(chunk) ? Number(chunk.toString().slice(9, 12)) : "cut";
}

const statuses = (all: readonly Socket[]) => Promise.all(all.map((socket) => asked(socket)));
const whole = (count: number, status: number | "cut") => Array<unknown>(count).fill(status);

describe("a listener whose places are all taken", () => {
  it("by idle connections of one address lets in a caller from another", async () => {
    await start();
    const idle = await connectedAll(mine, 40);

    const newcomers = await connectedAll(theirs, 4);

    expect(await statuses(newcomers)).toEqual(whole(4, 200));
    expect(idle.filter((socket) => socket.readable).length).toBeLessThanOrEqual(12);
  });

  it("gives an address no more than its share once half are taken, and that to its newest", async () => {
    await start();
    const first = await connectedAll(theirs, 4);
    const idle = await connectedAll(mine, 20);
    await asked(await connected(theirs));

    const open = idle.map((socket) => socket.readable);

    expect(await statuses(first.slice(1))).toEqual(whole(3, 200));
    expect(open.indexOf(true)).toBeGreaterThan(0);
    expect(open.slice(open.indexOf(true))).not.toContain(false);
  });

  it("cuts connections that have sent nothing before others", async () => {
    await start();
    const spoken: Socket[] = [];
    for (const address of ["127.0.0.3", "127.0.0.4", "127.0.0.5"])
      spoken.push(...(await connectedAll(address, 3)));
    expect(await statuses(spoken)).toEqual(whole(9, 200));
    await connectedAll(mine, 20);
    await connectedAll(theirs, 20);

    expect(await statuses(spoken)).toEqual(whole(9, 200));
  });

  it("closes an idle one of the address that has most, when all have sent a request", async () => {
    await start();
    const few = await connectedAll(theirs, 2);
    const many = await connectedAll(mine, 4);
    for (const address of ["127.0.0.3", "127.0.0.4", "127.0.0.5"])
      many.push(...(await connectedAll(address, 3)));
    expect(await statuses([...few, ...many])).toEqual(whole(15, 200));

    expect(await asked(await connected("127.0.0.9"))).toBe(200);

    expect(await statuses(few)).toEqual(whole(2, 200));
    expect(await statuses(many)).toEqual(["cut", ...whole(12, 200)]);
  });
});

describe("a listener with a request under way on each of its connections", () => {
  it("closes none of them, answers probes, and refuses other requests with 503", async () => {
    const waiting: ServerResponse[] = [];
    await start((_req, res) => (waiting.push(res), undefined));
    const busy: Socket[] = [];
    for (const address of [3, 4, 5, 6, 7].map((n) => `127.0.0.${n}`))
      busy.push(...(await connectedAll(address, 3)));
    const answers = busy.map((socket) => asked(socket));
    while (waiting.length < 15) await new Promise((resolve) => setImmediate(resolve));

    expect(await asked(await connected(theirs), "/healthz")).toBe(200);
    expect(await asked(await connected(theirs), "/readyz")).toBe(200);
    expect(await asked(await connected(theirs))).toBe(503);
    for (const res of waiting) answer(res, 200, "{}");
    expect(await Promise.all(answers)).toEqual(whole(15, 200));
    expect(await asked(await connected(theirs), "/healthz")).toBe(200);
  });

  it("has no more than its reserve beside them", async () => {
    const waiting: ServerResponse[] = [];
    await start((_req, res) => (waiting.push(res), undefined));
    const busy: Socket[] = [];
    for (const address of [3, 4, 5, 6, 7].map((n) => `127.0.0.${n}`))
      busy.push(...(await connectedAll(address, 3)));
    for (const socket of busy) void asked(socket);
    while (waiting.length < 15) await new Promise((resolve) => setImmediate(resolve));
    const silent = await connectedAll(theirs, 10);

    expect(await asked(await connected(mine), "/healthz")).toBe(200);
    expect(silent.filter((socket) => socket.readable).length).toBeLessThanOrEqual(1);
  });
});

describe("behind a trusted proxy", () => {
  it.each([
    ["IPv4", "192.0.2.1", "192.0.2.1", "192.0.2.2"],
    ["a /64 of IPv6", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"],
  ])("the share counts the running requests of one caller: %s", async (_, client, same, other) => {
    const waiting: ServerResponse[] = [];
    await start(
      (req, res) => {
        if (req.url === "/waits") waiting.push(res);
        else answer(res, 200, "{}");
        return undefined;
      },
      addressSet([mine]),
    );
    const pool = await connectedAll(mine, 12);
    const answers = pool.slice(0, 4).map((socket) => asked(socket, "/waits", client));
    while (waiting.length < 4) await new Promise((resolve) => setImmediate(resolve));

    expect(await asked(pool[4], "/x", same)).toBe(503);
    expect(await asked(pool[5], "/x", other)).toBe(200);
    for (const res of waiting) answer(res, 200, "{}");
    expect(await Promise.all(answers)).toEqual(whole(4, 200));
    expect(await asked(pool[6], "/x", same)).toBe(200);
  });

  it("the proxy itself has no share: all of its connections stay open", async () => {
    await start(undefined, addressSet([mine]));
    const pool = await connectedAll(mine, 15);

    expect(await statuses(pool)).toEqual(whole(15, 200));
  });

  it("an untrusted proxy is one caller, whatever addresses it names", async () => {
    await start(undefined, addressSet(["192.0.2.9"]));
    await connectedAll(theirs, 4);
    const pool: Socket[] = [];
    for (let n = 1; n <= 11; n++) {
      pool.push(await connected(mine));
      await asked(pool.at(-1), "/x", `192.0.2.${n}`);
    }

    expect(pool.filter((socket) => socket.readable)).toHaveLength(4);
  });
});

const socketFrom = (remoteAddress: string): Socket =>
  Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress });

describe("the places of a listener", () => {
  const proxy = "10.0.0.1";
  const trustedProxies = addressSet([`${proxy}/32`]);
  const opened = () => createConnections(16, trustedProxies, () => undefined);

  it("are all free again, in whatever order connections close", async () => {
    await expectAllGivenBack(() => {
      const connections = opened();
      const takes = [mine, theirs, "127.1.0.1", proxy].map((address) => () => {
        const socket = socketFrom(address);
        connections.arrived(socket);
        return { giveBack: () => socket.destroy(), isHeld: () => !socket.destroyed };
      });
      return { takes, held: () => undefined };
    });
  });

  it("and the shares of callers behind a proxy are all free again, in whatever order requests end", async () => {
    await expectAllGivenBack(() => {
      const connections = opened();
      const sockets = Array.from({ length: 8 }, () => socketFrom(proxy));
      for (const socket of sockets) connections.arrived(socket);
      const takes = [mine, theirs].map((caller, n) => () => {
        const req = new IncomingMessage(sockets[n] ?? new Socket());
        req.headers["x-forwarded-for"] = caller;
        const res = new ServerResponse(req);
        return connections.hasAsked(req, res) ? { giveBack: () => res.emit("close") } : undefined;
      });
      return { takes, held: () => undefined };
    });
  });
});
