/** The contract of `Sender`, against a real destination: sends the request as given, and returns the answer as it comes, and no more. */
import { expect } from "@jest/globals";
import { type Method, methods, type Outcome, tenantId } from "@posthaste/domain";
import { type OutgoingRequest, type Sender } from "@posthaste/ports";
import { answer, type Destination, openDestination, type Respond } from "../destination.ts";
import { dice } from "../seeded-random.ts";
import { type Closable, contract, type Deviation, type Guarantee } from "./guarantee.ts";

/** The sender must be allowed to reach 127.0.0.1, whatever the port. */
export type SenderHarness = Closable & { readonly sender: Sender };

export function describeSender(
  name: string,
  open: () => Promise<SenderHarness>,
  deviations: readonly Deviation[] = [],
): void {
  contract(`${name}: a sender`, open, { deviations }, (it) => {
    requests(it);
    answers(it);
    ends(it);
  });
}

function requests(it: Guarantee<SenderHarness>): void {
  for (const method of methods) {
    it(`a ${method} request arrives with the given path, query and body`, async ({ sender }) => {
      const body = dice(1).bytes(100_000);

      const {
        requests: [request],
      } = await exchange(sender, ok, "/a//b/%20c?q=1&q=%2F", { method, body });

      expect(request?.head[0]).toBe(`${method} /a//b/%20c?q=1&q=%2F HTTP/1.1`);
      expect(request && Buffer.compare(request.body, body)).toBe(0);
    });
  }

  it("an empty body arrives empty", async ({ sender }) => {
    const {
      requests: [request],
      outcome,
    } = await exchange(sender, ok, "/", { body: new Uint8Array() });

    expect(outcome).toMatchObject({ kind: "answered", status: 200 });
    expect(request?.body).toHaveLength(0);
  });

  it("headers arrive as given: order, case, repetition, values", async ({ sender }) => {
    const headers = [
      ["X-Twice", "one"],
      ["x-twice", "two, three"],
      ["__proto__", "p"],
      ["X-Empty", ""],
      ["X-Tab", "a\tb"],
    ] as const;

    const {
      requests: [request],
    } = await exchange(sender, ok, "/", { headers });

    const given = request?.head.filter((line) => /^(x-|__proto__)/i.test(line));
    expect(given).toEqual(headers.map(([name, value]) => `${name}: ${value}`));
  });

  it("a request accepts no content encoding", async ({ sender }) => {
    const {
      requests: [request],
    } = await exchange(sender, ok);

    const encodings = request?.head.filter((line) => /^accept-encoding:/i.test(line)) ?? [];
    expect(encodings.map((line) => line.split(":")[1]?.trim())).toEqual(
      encodings.map(() => "identity"),
    );
  });

  it("each of 50 requests at once gets its own answer", async ({ sender }) => {
    const echo: Respond = (socket, { body }) => answer(socket, "200 OK", body);
    const bodies = Array.from({ length: 50 }, (_, i) => new TextEncoder().encode(`body ${i}`));

    const outcomes = await withDestination(echo, ({ url }) =>
      Promise.all(bodies.map((body) => sender.send(requestTo(url, { body })).outcome)),
    );

    expect(outcomes.map(bodyOf)).toEqual(bodies.map((_, i) => `body ${i}`));
  });
}

function answers(it: Guarantee<SenderHarness>): void {
  it("status, headers and body return as they were sent, undecoded", async ({ sender }) => {
    const body = dice(2).bytes(50_000);
    const headers = ["X-Twice: one", "x-twice: two", "Content-Encoding: gzip"];

    const { outcome } = await exchange(sender, (socket) =>
      answer(socket, "418 I'm a teapot", body, headers),
    );

    expect(outcome).toMatchObject({ kind: "answered", status: 418, truncated: false });
    if (outcome.kind !== "answered") return;
    expect(Buffer.compare(outcome.body, body)).toBe(0);
    const twice = outcome.headers.filter(([name]) => name.toLowerCase() === "x-twice");
    expect(twice.map(([, value]) => value)).toEqual(["one", "two"]);
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`a ${status} is an answer, and is not followed`, async ({ sender }) => {
      const { outcome, requests: received } = await exchange(sender, (socket) =>
        answer(socket, `${status} Elsewhere`, "", ["Location: /elsewhere"]),
      );

      expect(outcome).toMatchObject({ kind: "answered", status });
      expect(received).toHaveLength(1);
    });
  }

  it("an answer of exactly the wanted length comes whole", async ({ sender }) => {
    const { outcome } = await exchange(
      sender,
      (socket) => answer(socket, "200 OK", "x".repeat(1_000)),
      "/",
      { responseBytesMax: 1_000 },
    );

    expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: false });
    expect(bodyOf(outcome)).toHaveLength(1_000);
  });

  it("a longer answer is cut at the wanted length, and its status counts", async ({ sender }) => {
    const endless: Respond = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
      const pour = (): void =>
        void (socket.writable && socket.write("x".repeat(10_000), () => setImmediate(pour)));
      pour();
    };

    const { outcome } = await exchange(sender, endless, "/", { responseBytesMax: 1_000 });

    expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
    expect(bodyOf(outcome)).toHaveLength(1_000);
  });

  it("a 2xx whose body breaks off is a 2xx, cut", async ({ sender }) => {
    const { outcome } = await exchange(sender, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", () => socket.destroy());
    });

    expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
  });
}

function ends(it: Guarantee<SenderHarness>): void {
  it("a destination that never answers is given up after the timeout", async ({ sender }) => {
    const { outcome } = await exchange(sender, () => undefined, "/", { timeoutMs: 200 });

    expect(outcome).toMatchObject({ kind: "unreachable", code: "timeout" });
  });

  it("the timeout is for the whole call: a byte now and then does not extend it", async ({
    sender,
  }) => {
    const { outcome } = await exchange(
      sender,
      (socket) => drip(socket, "HTTP/1.1 200 OK\r\nX-Slow: "),
      "/",
      { timeoutMs: 300 },
    );

    expect(outcome).toMatchObject({ kind: "unreachable", code: "timeout" });
  });

  it("a 2xx whose body is late is a 2xx, cut", async ({ sender }) => {
    const { outcome } = await exchange(
      sender,
      (socket) => drip(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
      "/",
      {
        timeoutMs: 300,
      },
    );

    expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
  });

  it("an aborted call ends as aborted, at once, and stays so", async ({ sender }) => {
    const outcome = await withDestination(
      () => undefined,
      async ({ url }) => {
        const sending = sender.send(requestTo(url, { timeoutMs: 3_600_000 }));
        sending.abort();
        sending.abort();
        return sending.outcome;
      },
    );

    expect(outcome).toEqual({ kind: "aborted" });
  });

  it("a call that has ended is not changed by an abort", async ({ sender }) => {
    const outcome = await withDestination(ok, async ({ url }) => {
      const sending = sender.send(requestTo(url));
      await sending.outcome;
      sending.abort();
      return sending.outcome;
    });

    expect(outcome).toMatchObject({ kind: "answered", status: 200 });
  });

  it("a missing destination is an outcome, not an error", async ({ sender }) => {
    const { url } = await withDestination(ok, async (destination) => destination);

    expect(await sender.send(requestTo(url)).outcome).toMatchObject({
      kind: "unreachable",
      code: "connect_failed",
    });
  });

  const breaks: readonly (readonly [string, Respond])[] = [
    ["closes without a word", (socket) => socket.destroy()],
    ["speaks something else", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")],
    [
      "breaks off within its head",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nX-Ha", () => socket.destroy()),
    ],
  ];
  for (const [what, respond] of breaks) {
    it(`a destination that ${what} is an outcome, and the request is not sent twice`, async ({
      sender,
    }) => {
      const { outcome, requests: received } = await exchange(sender, respond);

      expect(outcome.kind).toBe("unreachable");
      expect(received).toHaveLength(1);
    });
  }

  it("a URL that cannot be called is an outcome, not an error", async ({ sender }) => {
    for (const url of ["nonsense", "ftp://127.0.0.1/", "http://"]) {
      expect((await sender.send(requestTo(url)).outcome).kind).toBe("unreachable");
    }
  });
}

const ok: Respond = (socket) => answer(socket, "200 OK", "ok");
const dripEveryMs = 20;

function drip(socket: Parameters<Respond>[0], head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write("x"), dripEveryMs);
  socket.on("close", () => clearInterval(timer));
}

const requestTo = (url: string, changes: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  tenant: tenantId("default"),
  url,
  method: "POST" satisfies Method,
  headers: [],
  body: new TextEncoder().encode("hello"),
  timeoutMs: 5_000,
  responseBytesMax: 1_024 * 1_024,
  ...changes,
});

async function exchange(
  sender: Sender,
  respond: Respond,
  path = "/",
  changes: Partial<OutgoingRequest> = {},
): Promise<{ readonly outcome: Outcome; readonly requests: Destination["requests"] }> {
  return withDestination(respond, async ({ url, requests: received }) => {
    const outcome = await sender.send(requestTo(url + path, changes)).outcome;
    return { outcome, requests: received };
  });
}

async function withDestination<T>(
  respond: Respond,
  use: (destination: Destination) => Promise<T>,
): Promise<T> {
  const destination = await openDestination(respond);
  try {
    return await use(destination);
  } finally {
    await destination.close();
  }
}

const bodyOf = (outcome: Outcome): string =>
  outcome.kind === "answered" ? Buffer.from(outcome.body).toString() : outcome.kind;
