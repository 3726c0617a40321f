import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort, loopback } from "./process/ports.ts";
import { type Address, openProxy, type Proxy } from "./proxy.ts";

let heard: string;
let server: Server;
let proxy: Proxy;

beforeEach(async () => {
  heard = "";
  const port = await freePort();
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
      socket.write(text.toUpperCase());
    });
  });
  server.listen(port, loopback);
  await once(server, "listening");
  proxy = await openProxy({ to: { host: loopback, port } });
});

afterEach(async () => {
  await proxy.close();
  await new Promise((resolve) => server.close(resolve));
});

type Client = {
  readonly socket: Socket;
  readonly ended: Promise<void>;
  readonly received: () => string;
};

function client(to: Address = proxy): Client {
  const socket = connect(to.port, to.host);
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => (received += text));
  socket.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return { socket, ended, received: () => received };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("the proxy", () => {
  it("passes bytes both ways and in order", async () => {
    const { socket, received } = client();

    for (const word of ["one", "two", "three"]) socket.write(word);

    await until(() => received() === "ONETWOTHREE");
    socket.destroy();
  });

  it("swallows a reply: the server has carried out a call whose answer the client never gets", async () => {
    const { socket, received } = client();
    proxy.swallowReplies(true);
    socket.write("a");
    await until(() => heard === "a");
    socket.write("b");
    await until(() => heard === "ab");

    proxy.swallowReplies(false);
    socket.write("c");

    await until(() => received().endsWith("C"));
    expect(received()).not.toContain("A");
    socket.destroy();
  });

  it("loses the reply to the chosen call, and its connection with it", async () => {
    proxy.loseReplies((request) => request.includes("b"));
    const [first, second] = [client(), client()];
    first.socket.write("a");
    await until(() => first.received() === "A");

    second.socket.write("b");
    await second.ended;

    expect(heard).toBe("ab");
    expect(second.received()).toBe("");
    first.socket.write("c");
    await until(() => first.received() === "AC");
    first.socket.destroy();
  });

  it("cuts every connection, and takes new ones", async () => {
    const first = client();
    first.socket.write("a");
    await until(() => first.received() === "A");

    proxy.cut();
    await first.ended;

    const second = client();
    second.socket.write("b");
    await until(() => second.received() === "B");
    second.socket.destroy();
  });

  it("refuses new connections while that is switched on", async () => {
    proxy.refuse(true);
    const refused = client();
    await refused.ended;
    expect(heard).toBe("");

    proxy.refuse(false);

    const taken = client();
    taken.socket.write("a");
    await until(() => taken.received() === "A");
    taken.socket.destroy();
  });

  it("holds back one direction and keeps its order when the delay ends", async () => {
    const delayMs = 200;
    const { socket, received } = client();
    socket.write("a");
    await until(() => received() === "A");

    proxy.delay("reply", delayMs);
    const saidAt = performance.now();
    socket.write("b");
    await until(() => heard === "ab");
    proxy.delay("reply", 0);
    socket.write("c");

    await until(() => received() === "ABC");
    // Timers may be a millisecond early.
    expect(performance.now() - saidAt).toBeGreaterThan(delayMs - 5);
    socket.destroy();
  });

  it("passes a server's last bytes on to the client before the end", async () => {
    const port = await freePort();
    const brief = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("bye");
    });
    brief.listen(port, loopback);
    await once(brief, "listening");
    const toBrief = await openProxy({ to: { host: loopback, port } });
    toBrief.delay("reply", 50);

    const { ended, received } = client(toBrief);
    await ended;

    expect(received()).toBe("bye");
    await toBrief.close();
    await new Promise((resolve) => brief.close(resolve));
  });
});
