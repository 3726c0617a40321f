/** Tests the connections of calls: which are used again, and when they end. */
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
  requestTo,
  type Respond,
} from "./test-kit.ts";

afterEach(closeAll);

const answering =
  (answer: string): Respond =>
  (socket) =>
    socket.write(answer);

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

  it("are kept idle up to the bound, whatever the destinations request", async () => {
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

  it("that are idle are closed for new calls at the bound, the longest idle first", async () => {
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
      "and %s before a byte of the answer are replaced by a new one, for any method and body",
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

    it("and end leave the call the rest of its time", async () => {
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
