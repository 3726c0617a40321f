import { afterEach, describe, expect, it } from "@jest/globals";
import { type Outcome } from "@posthaste/domain";
import {
  closeAll,
  inShort,
  ok,
  openDestination,
  openSender,
  policyOf,
  requestTo,
  type Respond,
} from "./test-kit.ts";

afterEach(closeAll);

const answering =
  (answer: string): Respond =>
  (socket) =>
    socket.write(answer);

const answered = (outcome: Outcome): Extract<Outcome, { kind: "answered" }> => {
  if (outcome.kind !== "answered") throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome;
};

describe("a call", () => {
  it("sends method, path, query, headers and body as they were given", async () => {
    const destination = await openDestination(answering(ok));
    const body = Buffer.from([0, 0xff, 0x0d, 0x0a, 0x80, ...Buffer.from("é")]);

    await openSender().send(
      requestTo(`${destination.url}a/b?c=d&c=%20#fragment`, {
        method: "PUT",
        headers: [
          ["X-One", "1"],
          ["X-Many", "a"],
          ["x-many", "b"],
          ["Content-Type", "application/x"],
          ["__proto__", "p"],
        ],
        body,
      }),
    ).outcome;

    const [head = "", sent] = destination.received().split("\r\n\r\n");
    expect(head.split("\r\n")).toEqual([
      "PUT /a/b?c=d&c=%20 HTTP/1.1",
      `host: 127.0.0.1:${destination.port}`,
      "connection: keep-alive",
      "X-One: 1",
      "X-Many: a",
      "x-many: b",
      "Content-Type: application/x",
      "__proto__: p",
      "User-Agent: Posthaste",
      "Accept-Encoding: identity",
      `content-length: ${body.length}`,
    ]);
    expect(sent).toBe(body.toString("latin1"));
  });

  it.each(["GET", "DELETE", "PATCH"] as const)("with %s sends its body, too", async (method) => {
    const destination = await openDestination(answering(ok));

    const outcome = await openSender().send(requestTo(destination.url, { method })).outcome;

    expect(inShort(outcome)).toBe("200 ok");
    expect(destination.received()).toMatch(/\r\ncontent-length: 5\r\n\r\nhello$/);
  });

  it("with POST and no body sends a length of 0", async () => {
    const destination = await openDestination(answering(ok));

    await openSender().send(requestTo(destination.url, { body: Buffer.alloc(0) })).outcome;

    expect(destination.received()).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
  });

  it("leaves out headers that belong to the connection, and takes the caller's User-Agent and Accept-Encoding", async () => {
    const destination = await openDestination(answering(ok));

    await openSender().send(
      requestTo(destination.url, {
        headers: [
          ["Host", "169.254.169.254"],
          ["HOST", "evil"],
          ["Transfer-Encoding", "chunked"],
          ["Content-Length", "3"],
          ["Connection", "close, X-Secret"],
          ["Keep-Alive", "timeout=1"],
          ["Expect", "100-continue"],
          ["Upgrade", "h2c"],
          ["TE", "trailers"],
          ["Trailer", "x"],
          ["Proxy-Authorization", "x"],
          ["user-agent", "theirs"],
          ["ACCEPT-ENCODING", "gzip"],
        ],
      }),
    ).outcome;

    const lines = destination.received().split("\r\n").slice(1, -2);
    expect(lines).toEqual([
      `host: 127.0.0.1:${destination.port}`,
      "connection: keep-alive",
      "user-agent: theirs",
      "ACCEPT-ENCODING: gzip",
      "content-length: 5",
    ]);
  });

  it.each([["a\r\nX-Evil: 1"], ["a\nb"], ["a\0b"], ["č"]])(
    "with the header value %j fails without a byte sent, and its end is the message's",
    async (value) => {
      const destination = await openDestination(answering(ok));

      const outcome = await openSender().send(
        requestTo(destination.url, { headers: [["X-A", value]] }),
      ).outcome;

      expect(inShort(outcome)).toBe("unreachable protocol_error");
      expect(JSON.stringify(outcome)).not.toContain("Evil");
      expect(destination.received()).toBe("");
    },
  );

  it("brings back status, headers and body unchanged", async () => {
    const body = "\x1f\x8b\x08not gzip";
    const destination = await openDestination((socket) =>
      socket.write(
        `HTTP/1.1 503 No\r\nSet-Cookie: a\r\nX-Latin: \xe9\r\nset-cookie: b\r\nContent-Encoding: gzip\r\n__proto__: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        "latin1",
      ),
    );

    const outcome = answered(await openSender().send(requestTo(destination.url)).outcome);

    expect(outcome.status).toBe(503);
    expect(outcome.truncated).toBe(false);
    expect(Buffer.from(outcome.body).toString("latin1")).toBe(body);
    expect(outcome.headers).toEqual([
      ["set-cookie", "a"],
      ["set-cookie", "b"],
      ["x-latin", "\xe9"],
      ["content-encoding", "gzip"],
      ["__proto__", "x"],
      ["content-length", String(body.length)],
    ]);
  });

  it.each([301, 302, 303, 307, 308])("does not follow a %i", async (status) => {
    const elsewhere = await openDestination(answering(ok));
    const destination = await openDestination(
      answering(
        `HTTP/1.1 ${status} Moved\r\nlocation: ${elsewhere.url}\r\nrefresh: 0; url=${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`,
      ),
    );

    const outcome = await openSender().send(requestTo(destination.url)).outcome;

    expect(inShort(outcome)).toBe(`${status} `);
    expect(elsewhere.connections).toHaveLength(0);
    expect(destination.received().match(/POST/g)).toHaveLength(1);
  });

  it("keeps the part of the answer that fits and closes the connection", async () => {
    const destination = await openDestination(
      answering("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n0123456789"),
    );
    const sender = openSender();
    const send = async (responseBytesMax: number): Promise<string> =>
      inShort(await sender.send(requestTo(destination.url, { responseBytesMax })).outcome);

    expect(await send(10)).toBe("200 0123456789");
    expect(await send(9)).toBe("200 012345678…");
    expect(await send(0)).toBe("200 …");
    expect(destination.connections).toHaveLength(2);
  });

  it("to a URL that the policy refuses makes no connection", async () => {
    const destination = await openDestination(answering(ok));
    const sender = openSender({ policy: policyOf({ anyPort: true }) });

    const outcome = await sender.send(requestTo(destination.url)).outcome;

    expect(outcome).toEqual({
      kind: "unreachable",
      code: "address_refused",
      text: "invalid destination url: endpoint resolves to a loopback address: 127.0.0.1",
    });
    expect(sender.counts.connects).toBe(0);
  });
});

describe("aborting", () => {
  it("ends a call before its answer as aborted, once, and closes its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const destination = await openDestination(() => sending.abort(), {
      connected: (socket) => socket.on("close", () => closed.resolve()),
    });
    const sending = openSender().send(requestTo(destination.url));

    expect(await sending.outcome).toEqual({ kind: "aborted" });
    sending.abort();
    await closed.promise;
  });

  it("ends a call that still connects, and its connection with it", async () => {
    const connected = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const destination = await openDestination(() => connected.resolve(), {
      connected: (socket) => socket.on("close", () => closed.resolve()),
    });
    const sending = openSender().send(requestTo(destination.url.replace("http:", "https:")));

    await connected.promise;
    sending.abort();

    expect(await sending.outcome).toEqual({ kind: "aborted" });
    await closed.promise;
  });

  it("after the head of a 2xx answer leaves it an answer", async () => {
    const destination = await openDestination(
      answering("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234"),
    );
    const sender = openSender();
    const sending = sender.send(requestTo(destination.url, { timeoutMs: 300 }));
    const late = sender.send(requestTo(destination.url, { timeoutMs: 150 }));

    await late.outcome;
    sending.abort();

    expect(inShort(await sending.outcome)).toBe("200 01234…");
  });

  it("after the end changes nothing", async () => {
    const destination = await openDestination(answering(ok));
    const sending = openSender().send(requestTo(destination.url));
    const outcome = await sending.outcome;

    sending.abort();

    expect(await sending.outcome).toBe(outcome);
  });

  it("is the end of all calls, and of later calls, when the sender closes", async () => {
    const closing = Promise.withResolvers<void>();
    const destination = await openDestination(() => closing.resolve());
    const sender = openSender();
    const calls = [1, 2, 3].map(() => sender.send(requestTo(destination.url)));

    await closing.promise;
    await sender.close();

    calls.push(sender.send(requestTo(destination.url)));
    expect(await Promise.all(calls.map((call) => call.outcome))).toEqual(
      calls.map(() => ({ kind: "aborted" })),
    );
  });
});
