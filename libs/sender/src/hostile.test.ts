import { execFile } from "node:child_process";
import { type AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "@jest/globals";
import {
  closeAll,
  type DestinationSettings,
  inShort,
  ok,
  openDestination,
  openSender,
  requestTo,
  type Respond,
} from "./test-kit.ts";
import { authority, expired, key, otherName, selfSigned, valid } from "./test-certificates.ts";

afterEach(closeAll);

const outcomeOf = async (
  respond: Respond,
  { timeoutMs = 10_000, ...settings }: DestinationSettings & { timeoutMs?: number } = {},
): Promise<string> => {
  const destination = await openDestination(respond, settings);
  const outcome = await openSender().send(requestTo(destination.url, { timeoutMs })).outcome;
  return inShort(outcome);
};
const briefly = { timeoutMs: 150 };
const inASecond = { timeoutMs: 1_000 };

/** Writes the text a byte at a time, every 10 ms. */
const slowly =
  (text: string): Respond =>
  (socket) => {
    const bytes = [...text];
    const timer = setInterval(() => socket.write(bytes.shift() ?? " "), 10);
    socket.on("close", () => clearInterval(timer));
  };

/** Writes a part each turn, since a destination in another process could not block our event loop either. */
const endlessly =
  (first: string, chunk: string | Buffer): Respond =>
  (socket) => {
    socket.write(first);
    const more = (): void => {
      if (socket.destroyed) return;
      if (!socket.writableNeedDrain) socket.write(chunk);
      setImmediate(more);
    };
    more();
  };

describe("the deadline counts from the first moment to the last byte, for a destination that", () => {
  it.each<[string, Respond]>([
    ["never answers", () => undefined],
    ["sends its head one byte at a time", slowly("HTTP/1.1 200 OK\r\nx-long: ".padEnd(1_000, "x"))],
    ["sends informational answers slowly", slowly("HTTP/1.1 102 Processing\r\n\r\n".repeat(50))],
  ])("%s", async (_name, respond) => {
    expect(await outcomeOf(respond, briefly)).toBe("unreachable timeout");
  });

  it("sends its body one byte at a time: the status counts, the body is cut", async () => {
    const outcome = await outcomeOf((socket, request) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\ny");
      slowly("y".repeat(999))(socket, request);
    }, inASecond);

    expect(outcome).toMatch(/^200 y+…$/);
  });

  it("has others that never answer: none ends early, nor waits for a later one", async () => {
    const destination = await openDestination(() => undefined);
    const sender = openSender();
    const ended: number[] = [];
    const timeouts = [1_200, 240, 720, 1, 480];

    await Promise.all(
      timeouts.map(async (timeoutMs) => {
        const startedAt = performance.now();
        await sender.send(requestTo(destination.url, { timeoutMs })).outcome;
        expect(performance.now() - startedAt).toBeGreaterThanOrEqual(timeoutMs);
        ended.push(timeoutMs);
      }),
    );

    expect(ended).toEqual([1, 240, 480, 720, 1_200]);
  });
});

describe("an answer is bounded, from a destination that", () => {
  it("sends a body without end", async () => {
    const destination = await openDestination(
      endlessly(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        `10000\r\n${"z".repeat(0x10000)}\r\n`,
      ),
    );

    const outcome = await openSender().send(
      requestTo(destination.url, { responseBytesMax: 100_000 }),
    ).outcome;

    expect(inShort(outcome)).toBe(`200 ${"z".repeat(100_000)}…`);
  });

  it("promises a huge body and sends on and on", async () => {
    const destination = await openDestination(
      endlessly(
        "HTTP/1.1 500 Oops\r\ncontent-length: 10000000000\r\n\r\n",
        Buffer.alloc(65_536, "z"),
      ),
    );

    const outcome = await openSender().send(requestTo(destination.url, { responseBytesMax: 10 }))
      .outcome;

    expect(inShort(outcome)).toBe("500 zzzzzzzzzz…");
  });

  it.each<[string, string, Respond]>([
    [
      "headers without end",
      "header_overflow",
      endlessly("HTTP/1.1 200 OK\r\n", `x-more: ${"h".repeat(1_000)}\r\n`),
    ],
    [
      "one header of a megabyte",
      "header_overflow",
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"h".repeat(1_000_000)}`),
    ],
    [
      "informational answers without end",
      "protocol_error",
      endlessly("", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(5)),
    ],
  ])("sends %s: %s", async (_name, code, respond) => {
    expect(await outcomeOf(respond)).toBe(`unreachable ${code}`);
  });

  it("sends more than 128 headers", async () => {
    const answer = (count: number): string =>
      `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(count - 1)}content-length: 2\r\n\r\nok`;

    expect(await outcomeOf((socket) => socket.write(answer(128)))).toBe("200 ok");
    expect(await outcomeOf((socket) => socket.write(answer(129)))).toBe(
      "unreachable header_overflow",
    );
  });

  it("sends 16 informational answers, and then a real one", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";

    expect(await outcomeOf((socket) => socket.write(hints.repeat(16) + ok))).toBe("200 ok");
    expect(await outcomeOf((socket) => socket.write(hints.repeat(17) + ok))).toBe(
      "unreachable protocol_error",
    );
  });
});

describe("unrequested informational answers are skipped", () => {
  it.each([
    ["100", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["100 without a reason", "HTTP/1.1 100\r\n\r\n"],
    [
      "100 with headers",
      "HTTP/1.1 100 Continue\r\nDate: x\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
    ],
    ["100 that offers an upgrade", "HTTP/1.1 100 Continue\r\nUpgrade: h2c\r\n\r\n"],
    ["100 three times", "HTTP/1.1 100 Continue\r\n\r\n".repeat(3)],
    ["102", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["103, then 100", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"],
    ["100, then 103", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"],
    ["199", "HTTP/1.1 199 Miscellaneous\r\n\r\n"],
  ])("%s, in one piece and apart, and the connection is kept", async (_name, informational) => {
    const answer = "HTTP/1.1 201 Made\r\nx-head: final\r\ncontent-length: 2\r\n\r\nok";
    let isApart = false;
    const destination = await openDestination((socket) => {
      if (isApart) socket.write(informational, () => setImmediate(() => socket.write(answer)));
      else socket.write(informational + answer);
      isApart = true;
    });
    const sender = openSender();

    for (let call = 0; call < 3; call++) {
      const outcome = await sender.send(requestTo(destination.url)).outcome;

      expect(inShort(outcome)).toBe("201 ok");
      expect(outcome.kind === "answered" && outcome.headers).toEqual([
        ["x-head", "final"],
        ["content-length", "2"],
      ]);
    }
    expect(destination.connections).toHaveLength(1);
  });

  it("and no answer of their own: a connection that ends after one is lost", async () => {
    expect(await outcomeOf((socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\n"))).toBe(
      "unreachable connection_lost",
    );
  });
});

describe("an answer that is not HTTP/1.1 is a protocol error", () => {
  it.each([
    ["an SSH banner", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["an SMTP banner", "220 mail.example.com ESMTP\r\n"],
    ["HTTP/0.9", "<html>hello</html>"],
    ["HTTP/2", "HTTP/2 200\r\n\r\n"],
    ["a status that is no number", "HTTP/1.1 abc OK\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok",
    ],
    ["a control character in a header", "HTTP/1.1 200 OK\r\nx: a\u0001b\u0000\r\n\r\n"],
    [
      "a switch of protocols",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    ],
    ["an upgrade that is none", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["status 000", "HTTP/1.1 000\r\n\r\n"],
    ["status 000 with a body", "HTTP/1.1 000 X\r\ncontent-length: 1\r\n\r\nx"],
    ["status 099 in chunks", "HTTP/1.1 099 X\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
  ])("%s", async (_name, bytes) => {
    expect(await outcomeOf((socket) => socket.write(bytes))).toBe("unreachable protocol_error");
  });
});

describe("a connection that breaks", () => {
  it("because nothing listens is a failed connect", async () => {
    const destination = await openDestination(() => undefined);
    await closeAll();

    const outcome = await openSender().send(requestTo(destination.url)).outcome;

    expect(outcome).toEqual({
      kind: "unreachable",
      code: "connect_failed",
      text: "cannot connect: ECONNREFUSED",
    });
  });

  it("as soon as it is open is lost", async () => {
    const outcome = await outcomeOf(() => undefined, {
      connected: (socket) => void socket.resetAndDestroy(),
    });

    expect(outcome).toMatch(/^unreachable (connection_lost|connect_failed)$/);
  });

  it.each([
    ["reset", (socket: Parameters<Respond>[0]) => void socket.resetAndDestroy()],
    ["closed", (socket: Parameters<Respond>[0]) => void socket.end()],
  ])("after the request, %s, is lost", async (_name, breaking) => {
    expect(await outcomeOf(breaking)).toBe("unreachable connection_lost");
  });

  it("within the head is lost", async () => {
    expect(await outcomeOf((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-le"))).toBe(
      "unreachable connection_lost",
    );
  });

  it.each([200, 204, 404, 500])(
    "within the body of a %i leaves the answer, cut",
    async (status) => {
      const head = `HTTP/1.1 ${status} X\r\ncontent-length: 10\r\n\r\n`;
      const outcome = await outcomeOf((socket) => {
        socket.write(`${head}hello`, () => socket.resetAndDestroy());
      });

      expect(outcome).toMatch(status === 204 ? /^204 $/ : new RegExp(`^${status} (hello)?…$`));
    },
  );

  it.each([
    ["a length that is not reached", "content-length: 10\r\n\r\nhello"],
    ["chunks without the last one", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ["a chunk that is not whole", "transfer-encoding: chunked\r\n\r\n6\r\nhello"],
    ["a last chunk without its end", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"],
    ["a chunk that is none", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nX\r\n"],
  ])("within the body, %s, says that it is the destination's doing", async (_name, rest) => {
    const destination = await openDestination((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));

    const outcome = await openSender().send(requestTo(destination.url)).outcome;

    expect(inShort(outcome)).toBe("200 hello…");
    expect(outcome).toMatchObject({ truncated: true, brokenBy: "destination" });
  });

  it("within the body, or is late with it, is distinguished from a whole body, one that is cut at the bound or without room, and an aborted one", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
    const whole = await openDestination((socket) => socket.write(head + "x".repeat(100_000)));
    const late = await openDestination((socket) => socket.write(`${head}x`));
    const byOf = async (
      { url }: { url: string },
      changes: Parameters<typeof requestTo>[1] = {},
      sender = openSender(),
    ): Promise<unknown> => {
      const outcome = await sender.send(requestTo(url, changes)).outcome;
      return outcome.kind === "answered" && [outcome.truncated, outcome.brokenBy];
    };
    const aborting = openSender();
    const aborted = byOf(late, {}, aborting);
    const timedOut = byOf(late, inASecond);

    expect(await byOf(whole)).toEqual([false, undefined]);
    expect(await byOf(whole, { responseBytesMax: 100_000 })).toEqual([false, undefined]);
    expect(await byOf(whole, { responseBytesMax: 99_999 })).toEqual([true, undefined]);
    expect(await byOf(whole, {}, openSender({ answerBytesMax: 1 }))).toEqual([true, "room"]);
    expect(await timedOut).toEqual([true, "destination"]);
    await aborting.close();
    expect(await aborted).toEqual([true, "abort"]);
  });

  it("behind a body without a length has ended it: reset, it has broken off", async () => {
    const ended = await openDestination((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nhello"));
    const reset = await openDestination((socket) =>
      socket.write("HTTP/1.1 200 OK\r\n\r\nhello", () => socket.resetAndDestroy()),
    );
    const sender = openSender();

    const outcomes = [
      await sender.send(requestTo(ended.url)).outcome,
      await sender.send(requestTo(reset.url)).outcome,
    ];

    expect(outcomes).toMatchObject([
      { truncated: false },
      { truncated: true, brokenBy: "destination" },
    ]);
  });

  it("with more body than promised harms neither this answer nor the next", async () => {
    const destination = await openDestination((socket) =>
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
      ),
    );
    const sender = openSender();

    for (let call = 0; call < 3; call++)
      expect(inShort(await sender.send(requestTo(destination.url)).outcome)).toBe("200 ok");
  });

  it("after a 200 that came before the body was read is still a 200", async () => {
    const destination = await openDestination((socket) => {
      socket.pause();
      socket.end(ok);
    });

    const outcome = await openSender().send(
      requestTo(destination.url, { body: Buffer.alloc(2_000_000) }),
    ).outcome;

    expect(inShort(outcome)).toBe("200 ok");
  });
});

describe("the environment", () => {
  it("neither switches off the verification of TLS nor brings in a proxy", async () => {
    const proxy = await openDestination((socket) => socket.write(ok));
    const plain = await openDestination((socket) => socket.write(ok));
    const secure = await openDestination((socket) => socket.write(ok), { certificate: selfSigned });
    const script = `
      import { createSender } from ${JSON.stringify(new URL("./sender.ts", import.meta.url).href)};
      const policy = { allowLoopback: true, allowPrivateCidrs: [], anyPort: true, ownOrigins: [] };
      const clock = { passedMs: () => performance.now(), after: (ms, task) => { const t = setTimeout(task, ms); return () => clearTimeout(t); } };
      const sender = createSender({ policy, clock, connectionsPerOriginMax: 1, originsMax: 1, idleConnectionsMax: 1, connectionsMax: 9, answerBytesMax: 1 });
      for (const url of ${JSON.stringify([plain.url, secure.url])}) {
        const call = { tenant: "default", url, method: "POST", headers: [], body: Buffer.alloc(0), timeoutMs: 5_000, responseBytesMax: 9 };
        const outcome = await sender.send(call).outcome;
        console.log(outcome.status ?? outcome.code);
      }
      await sender.close();`;
    const env = {
      ...process.env,
      NODE_TLS_REJECT_UNAUTHORIZED: "0",
      HTTP_PROXY: proxy.url,
      HTTPS_PROXY: proxy.url,
      http_proxy: proxy.url,
    };
    const args = ["--no-warnings", "--input-type=module", "-e", script];

    const { stdout } = await promisify(execFile)(process.execPath, args, { env });

    expect(stdout.trim().split("\n")).toEqual(["200", "tls_failed"]);
    expect(proxy.connections).toHaveLength(0);
  });
});

describe("TLS", () => {
  const answer: Respond = (socket) => socket.write(ok);
  const outcomeWith = async (certificate: string, host = "localhost"): Promise<string> => {
    const destination = await openDestination(answer, { certificate });
    const sender = openSender({ certificates: [authority] });
    return inShort(await sender.send(requestTo(`https://${host}:${destination.port}/`)).outcome);
  };

  it("with a certificate for the name, or for the address, is spoken", async () => {
    expect(await outcomeWith(valid)).toBe("200 ok");
    expect(await outcomeWith(valid, "127.0.0.1")).toBe("200 ok");
  });

  it.each([
    ["self-signed", selfSigned, "localhost"],
    ["expired", expired, "localhost"],
    ["for another name", otherName, "localhost"],
    ["for another name than the address", otherName, "127.0.0.1"],
  ])(
    "with a certificate that is %s fails before a byte of the request",
    async (_name, certificate, host) => {
      const destination = await openDestination(answer, { certificate });

      const outcome = await openSender({ certificates: [authority] }).send(
        requestTo(`https://${host}:${destination.port}/`),
      ).outcome;

      expect(inShort(outcome)).toBe("unreachable tls_failed");
      expect(destination.received()).toBe("");
    },
  );

  it("is by default verified against the known authorities", async () => {
    const destination = await openDestination(answer, { certificate: valid });

    const outcome = await openSender().send(requestTo(`https://localhost:${destination.port}/`))
      .outcome;

    expect(inShort(outcome)).toBe("unreachable tls_failed");
  });

  it("names the host to the destination, unless it is an address", async () => {
    const named: unknown[] = [];
    const destination = await openDestination(answer, {
      certificate: valid,
      connected: (socket) => named.push("servername" in socket && socket.servername),
    });
    const sender = openSender({ certificates: [authority] });

    for (const host of ["localhost", "127.0.0.1"])
      await sender.send(requestTo(`https://${host}:${destination.port}/`)).outcome;

    expect(named).toEqual(["localhost", false]);
  });

  it("is not negotiated anew on an open connection, however often a destination requests it", async () => {
    let negotiated = 0;
    const server = createTlsServer({ cert: valid, key, maxVersion: "TLSv1.2" }, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.renegotiate({}, (error) => {
          if (!error) negotiated++;
        });
      });
    });
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
    );
    const sender = openSender({ certificates: [authority] });

    const { outcome } = sender.send(requestTo(`https://localhost:${port}/`, { timeoutMs: 500 }));

    const { kind } = await outcome;
    server.close();
    expect([kind, negotiated]).toEqual(["unreachable", 0]);
  });

  it("is resumed on later connections, and still verified", async () => {
    const destination = await openDestination((socket) => socket.end(ok), { certificate: valid });
    const sender = openSender({ certificates: [authority] });

    for (let call = 0; call < 3; call++)
      expect(
        inShort(await sender.send(requestTo(`https://localhost:${destination.port}/`)).outcome),
      ).toBe("200 ok");
  });

  it("with a handshake that stalls, breaks or is no handshake fails within its own limit", async () => {
    const ends: [Respond, string][] = [
      [() => undefined, "unreachable tls_failed"],
      [(socket) => socket.resetAndDestroy(), "unreachable tls_failed"],
      [(socket) => socket.end(), "unreachable tls_failed"],
      [(socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"), "unreachable tls_failed"],
    ];
    for (const [respond, expected] of ends) {
      const destination = await openDestination(respond);
      const sender = openSender({ connectMsMax: 100 });

      const outcome = await sender.send(requestTo(destination.url.replace("http:", "https:")))
        .outcome;

      expect(inShort(outcome)).toBe(expected);
    }
  });
});
