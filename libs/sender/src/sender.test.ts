import { once } from "node:events";
import { type Socket } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type Outcome } from "@posthaste/domain";
import { type CountingSender } from "./sender.ts";
import { authority, valid } from "./test-certificates.ts";
import {
  closeAll,
  type Destination,
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

    await openSender({ userAgent: "Ours" }).send(
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

describe("connections", () => {
  it("are kept and used again, one call at a time", async () => {
    const destination = await openDestination(answering(ok));
    const sender = openSender();

    for (let call = 0; call < 20; call++) await sender.send(requestTo(destination.url)).outcome;
    expect(destination.connections).toHaveLength(1);

    await Promise.all([1, 2, 3].map(() => sender.send(requestTo(destination.url)).outcome));
    expect(destination.connections).toHaveLength(3);
    expect(sender.counts).toEqual({ calls: 23, connects: 3, movedToFresh: 0, ssrfBlockedLate: 0 });
  });

  it("are no more than the bound: one call more ends at once, as our failure", async () => {
    const gate = Promise.withResolvers<void>();
    const destination = await openDestination(
      (socket) => void gate.promise.then(() => socket.write(ok)),
    );
    const sender = openSender({ connectionsPerOriginMax: 2 });
    const send = (): Promise<Outcome> => sender.send(requestTo(destination.url)).outcome;
    const two = [send(), send()];

    expect(inShort(await send())).toBe("infrastructure out_of_sockets");
    gate.resolve();
    expect((await Promise.all(two)).map(inShort)).toEqual(["200 ok", "200 ok"]);
    expect(inShort(await send())).toBe("200 ok");
  });

  it("of the origin that was idle longest are closed when there are too many origins", async () => {
    const destinations = await Promise.all([1, 2, 3].map(() => openDestination(answering(ok))));
    const sender = openSender({ originsMax: 2 });
    const counts = async (): Promise<number[]> => {
      for (const destination of destinations) await sender.send(requestTo(destination.url)).outcome;
      return destinations.map((destination) => destination.connections.length);
    };

    expect(await counts()).toEqual([1, 1, 1]);
    const [, , last] = destinations;
    if (last !== undefined) await sender.send(requestTo(last.url)).outcome;

    expect(last?.connections).toHaveLength(1);
    expect(await counts()).toEqual([2, 2, 2]);
  });

  it("are kept without a call as many as may be, whatever the destinations would have", async () => {
    const destinations = await Promise.all([1, 2, 3].map(() => openDestination(answering(ok))));
    const sender = openSender({ idleConnectionsMax: 2 });
    const sendAll = async (): Promise<void> => {
      for (const destination of destinations) await sender.send(requestTo(destination.url)).outcome;
    };

    await sendAll();
    await sendAll();

    expect(destinations.map(({ connections }) => connections.length)).toEqual([1, 1, 2]);
  });

  it("of an origin too many are closed at once, not when they have idled long enough", async () => {
    const closed = Promise.withResolvers<string>();
    const first = await openDestination(answering(ok), {
      connected: (socket) => socket.on("close", () => closed.resolve("closed")),
    });
    const second = await openDestination(answering(ok));
    const sender = openSender({ originsMax: 1 });

    await sender.send(requestTo(first.url)).outcome;
    await sender.send(requestTo(second.url)).outcome;
    const idleTimer = setTimeout(() => closed.resolve("kept"), 3_000);

    expect(await closed.promise).toBe("closed");
    clearTimeout(idleTimer);
  });

  it("without a call give way to calls, those of the longest rest first, where there are as many as may be", async () => {
    const destinations = await Promise.all(
      Array.from({ length: 8 }, () => openDestination(answering(ok))),
    );
    const hanging = await Promise.all([1, 2, 3].map(() => openDestination(() => undefined)));
    const sender = openSender({ connectionsMax: 8, idleConnectionsMax: 8 });
    const open = (): readonly boolean[] =>
      destinations.map(({ connections }) => connections.some(({ destroyed }) => !destroyed));
    for (const { url } of destinations) await sender.send(requestTo(url)).outcome;
    expect(open()).toEqual(Array(8).fill(true));

    // Shorter than the idle time after which the connections would close anyway.
    const signal = AbortSignal.timeout(3_000);
    const oldest = destinations.slice(0, 3).flatMap(({ connections }) => connections);
    const closed = Promise.all(oldest.map((connection) => once(connection, "close", { signal })));
    for (const { url } of hanging) sender.send(requestTo(url));
    await closed;

    expect(open()).toEqual([false, false, false, true, true, true, true, true]);
  });

  it("with a call are not closed for other origins", async () => {
    const gate = Promise.withResolvers<void>();
    let requests = 0;
    const slow = await openDestination((socket) => {
      if (++requests === 1) socket.write(ok);
      else void gate.promise.then(() => socket.write(ok));
    });
    const others = await Promise.all([1, 2, 3].map(() => openDestination(answering(ok))));
    const sender = openSender({ originsMax: 1 });
    await sender.send(requestTo(slow.url)).outcome;

    const sending = sender.send(requestTo(slow.url));
    for (const other of others) await sender.send(requestTo(other.url)).outcome;
    gate.resolve();

    expect(inShort(await sending.outcome)).toBe("200 ok");
  });

  it("that the destination closes after each answer cost no call", async () => {
    const destination = await openDestination((socket) => socket.end(ok));
    const sender = openSender();

    const outcomes: string[] = [];
    for (let call = 0; call < 20; call++)
      outcomes.push(inShort(await sender.send(requestTo(destination.url)).outcome));

    expect(new Set(outcomes)).toEqual(new Set(["200 ok"]));
    expect(destination.received().match(/POST/g)).toHaveLength(20);
  });

  it("that the destination resets after each answer cost no call", async () => {
    const destination = await openDestination((socket) => {
      socket.write(ok);
      socket.resetAndDestroy();
    });
    const sender = openSender();

    const outcomes: string[] = [];
    for (let call = 0; call < 10; call++)
      outcomes.push(inShort(await sender.send(requestTo(destination.url)).outcome));

    expect(new Set(outcomes)).toEqual(new Set(["200 ok"]));
    expect(destination.received().match(/POST/g)).toHaveLength(10);
  });

  it("that break before a byte of the next request was written are replaced once", async () => {
    const destination = await openDestination(answering(ok));
    const sender = openSender();
    await sender.send(requestTo(destination.url)).outcome;
    // From a timer, so that the break is noticed before undici writes, at the end of the turn.
    await new Promise((resolve) => setTimeout(resolve, 5));

    const sending = sender.send(requestTo(destination.url));
    destination.connections[0]?.resetAndDestroy();

    expect(inShort(await sending.outcome)).toBe("200 ok");
    expect(sender.counts.movedToFresh).toBe(1);
    expect(destination.received().match(/POST/g)).toHaveLength(2);
  });

  it("that ended before the call and were dialled anew are fresh ones: their end is that of the call", async () => {
    let requests = 0;
    const destination = await openDestination((socket) => {
      if (++requests === 1) socket.end(ok);
      else socket.end();
    });
    const sender = openSender();

    expect(inShort(await sender.send(requestTo(destination.url)).outcome)).toBe("200 ok");
    expect(inShort(await sender.send(requestTo(destination.url)).outcome)).toBe(
      "unreachable connection_lost",
    );

    expect(requests).toBe(2);
  });

  it("are not given up for a request that cannot be written", async () => {
    const destination = await openDestination(answering(ok));
    const sender = openSender();
    const headers = [["X-A", "a\nb"]] as const;

    await sender.send(requestTo(destination.url)).outcome;
    await sender.send(requestTo(destination.url, { headers })).outcome;

    expect(sender.counts.movedToFresh).toBe(0);
  });

  describe.each(["http", "https"] as const)("that were used before, over %s,", (scheme) => {
    /** Opens a destination that answers the first request of each connection by `fresh`, and the second by `second`. */
    const openBreaking = async (
      second: (socket: Socket) => unknown,
      fresh: (socket: Socket) => unknown = (socket) => socket.write(ok),
    ): Promise<{ destination: Destination; sender: CountingSender; requests: () => number }> => {
      const used = new Set<Socket>();
      const destination = await openDestination(
        (socket, bytes) => {
          if (used.has(socket)) return void second(socket);
          if (!/(\r\n\r\n|\.)$/.test(bytes)) return;
          if (used.size === 0) socket.write(ok);
          else fresh(socket);
          used.add(socket);
        },
        scheme === "https" ? { certificate: valid } : {},
      );
      const sender = openSender({ certificates: [authority] });
      const body = Buffer.from(".");
      const first = await sender.send(requestTo(destination.url, { body })).outcome;
      expect(inShort(first)).toBe("200 ok");
      const requests = (): number =>
        destination.received().match(/ \/ HTTP\/1.1\r\n/g)?.length ?? 0;
      return { destination, sender, requests };
    };

    it.each([
      ["end", (socket: Socket) => socket.end()],
      [
        "are reset",
        (socket: Socket) => (scheme === "https" ? socket.destroy() : socket.resetAndDestroy()),
      ],
    ])(
      "and %s before a byte of the answer are replaced by a fresh one, whatever the method and body",
      async (_name, breaking) => {
        const { destination, sender, requests } = await openBreaking(breaking);
        const requestsMade = [
          ["GET", ""],
          ["POST", ""],
          ["POST", "hello."],
          ["PUT", `${"x".repeat(300_000)}.`],
          ["PATCH", "again."],
        ] as const;
        let calls = 1;

        for (const [method, text] of requestsMade) {
          const request = requestTo(destination.url, { method, body: Buffer.from(text) });
          expect(inShort(await sender.send(request).outcome)).toBe("200 ok");
          calls++;
        }

        expect(sender.counts).toMatchObject({ calls, connects: calls, movedToFresh: calls - 1 });
        expect(requests()).toBe(2 * calls - 1);
      },
    );

    it("and end are replaced once: the end of the fresh one is that of the call", async () => {
      const ending = (socket: Socket): unknown => socket.end();
      const { destination, sender, requests } = await openBreaking(ending, ending);

      const outcome = await sender.send(requestTo(destination.url, { body: Buffer.alloc(0) }))
        .outcome;

      expect(inShort(outcome)).toBe("unreachable connection_lost");
      expect(requests()).toBe(3);
    });

    it.each([
      ["a byte of the answer", "H", "unreachable connection_lost"],
      ["half of a head", "HTTP/1.1 200 OK\r\ncontent-le", "unreachable connection_lost"],
      ["an informational answer", "HTTP/1.1 100 Continue\r\n\r\n", "unreachable connection_lost"],
      ["a head", "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\n", "500 …"],
      ["what is no answer", "SSH-2.0-OpenSSH_9.6\r\n", "unreachable protocol_error"],
    ])("and end after %s fail the call: it is not made twice", async (_name, bytes, expected) => {
      const { destination, sender, requests } = await openBreaking((socket) => socket.end(bytes));

      const outcome = await sender.send(requestTo(destination.url)).outcome;

      expect(inShort(outcome)).toBe(expected);
      expect(requests()).toBe(2);
      expect(sender.counts.movedToFresh).toBe(0);
    });

    it("and do not answer in time fail the call: it is not made twice", async () => {
      const { destination, sender, requests } = await openBreaking(() => undefined);

      const outcome = await sender.send(requestTo(destination.url, { timeoutMs: 150 })).outcome;

      expect(inShort(outcome)).toBe("unreachable timeout");
      expect(requests()).toBe(2);
    });

    it("and end leave the call what is left of its time", async () => {
      const { destination, sender } = await openBreaking(
        (socket) => socket.end(),
        () => undefined,
      );

      const outcome = await sender.send(requestTo(destination.url, { timeoutMs: 150 })).outcome;

      expect(inShort(outcome)).toBe("unreachable timeout");
      expect(sender.counts.movedToFresh).toBe(1);
    });

    it("and end after the call was aborted make no other", async () => {
      const { destination, sender, requests } = await openBreaking((socket) => {
        sending.abort();
        socket.end();
      });
      const sending = sender.send(requestTo(destination.url));

      expect(await sending.outcome).toEqual({ kind: "aborted" });
      expect(requests()).toBe(2);
    });
  });

  it("with an answer before all of the request was read are not used again", async () => {
    const destination = await openDestination((socket) => {
      if (socket.isPaused()) return;
      socket.pause();
      socket.write(ok);
    });
    const sender = openSender();
    const large = requestTo(destination.url, { body: Buffer.alloc(20_000_000) });

    expect(inShort(await sender.send(large).outcome)).toBe("200 ok");
    expect(inShort(await sender.send(requestTo(destination.url)).outcome)).toBe("200 ok");
    expect(destination.connections).toHaveLength(2);
  });
});
