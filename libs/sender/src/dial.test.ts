import { afterEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { type DestinationPolicy, type DestinationUrl, type Outcome } from "@posthaste/domain";
import { noCounts } from "./counts.ts";
import { Deadlines } from "./deadlines.ts";
import { createDialer } from "./dial.ts";
import { LocalFamilies } from "./local-families.ts";
import { Names } from "./names.ts";
import {
  closeAll,
  fakeNameServer,
  inShort,
  loopbackPolicy,
  ok,
  openDestination,
  openSender,
  policyOf,
  realClock,
  requestTo,
} from "./test-kit.ts";

afterEach(closeAll);

const strict = policyOf({ anyPort: true });

/** Returns the dialer alone, as if all checks before it had passed. `opened` means that a connection was made. */
function dialerOf(policy: DestinationPolicy, answers: Parameters<typeof fakeNameServer>[0] = {}) {
  const counts = noCounts();
  const deadlines = new Deadlines(realClock);
  const names = new Names({
    clock: realClock,
    server: fakeNameServer(answers),
    hosts: async () => [],
  });
  const dialer = createDialer({
    policy,
    names,
    clock: realClock,
    deadlines,
    counts,
    families: new LocalFamilies(realClock),
    connectMsMax: 1_000,
  });
  const dial = async (target: Partial<DestinationUrl>): Promise<Outcome | "opened"> => {
    const outcome = await new Promise<Outcome | "opened">((resolve) => {
      dialer.dial(
        { scheme: "http", host: "127.0.0.1", isLiteral: true, port: 80, path: "/", ...target },
        (failure, socket) => {
          socket?.destroy();
          resolve(failure === null ? "opened" : failure.outcome);
        },
      );
    });
    deadlines.close();
    return outcome;
  };
  return { dial, counts };
}

const refused = expect.objectContaining({
  kind: "unreachable",
  code: "address_refused",
}) as unknown;

describe("the dialer", () => {
  it.each([
    "127.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.168.1.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "fe80::1",
    "fec0::1",
    "fd00:ec2::254",
    "5f00::1",
    "100::1",
    "ff02::1",
    "fe80::1%lo",
    "127.1",
    "0x7f.1",
    "2130706433",
    "",
  ])("opens no socket to the literal %j", async (host) => {
    const { dial, counts } = dialerOf(strict);

    expect(await dial({ host })).toEqual(refused);
    expect(counts.connects).toBe(0);
  });

  it.each([
    "127.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "fd00::1",
    "fe80::1%lo",
    "rubbish",
    "",
  ])("opens no socket when a name means %j", async (address) => {
    const { dial, counts } = dialerOf(strict, { "evil.test": [address] });

    expect(await dial({ host: "evil.test", isLiteral: false })).toEqual(refused);
    expect(counts.connects).toBe(0);
  });

  it("opens no socket to any blocked address, literal or behind a name", async () => {
    const v4 = fc
      .tuple(
        fc.constantFrom(
          [0],
          [10],
          [100, 64],
          [127],
          [169, 254],
          [172, 16],
          [192, 168],
          [198, 18],
          [203, 0, 113],
          [224],
          [240],
        ),
        fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 3, maxLength: 3 }),
      )
      .map(([start, rest]) => [...start, ...rest].slice(0, 4).join("."));
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const v6 = fc
      .tuple(
        fc.constantFrom(
          "fc00",
          "fd7a",
          "fe80",
          "ff02",
          "2002",
          "2001:0",
          "2001:db8",
          "64:ff9b",
          "4000",
        ),
        group,
        group,
      )
      .map(([start, a, b]) => `${start}::${a}:${b}`);
    const blocked = fc.oneof(
      v4,
      v6,
      v4.map((text) => `::ffff:${text}`),
      v4.map((text) => `::${text}`),
    );

    await fc.assert(
      fc.asyncProperty(blocked, fc.boolean(), async (address, isLiteral) => {
        const { dial, counts } = dialerOf(strict, { "evil.test": [address] });

        expect(await dial({ host: isLiteral ? address : "evil.test", isLiteral })).toEqual(refused);
        expect(counts.connects).toBe(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it("destroys a connection that turns out to be to a forbidden address before a byte is sent, and counts it", async () => {
    const destination = await openDestination((socket) => socket.write(ok));
    const turning = { ...loopbackPolicy, allowLoopback: true };
    const { dial, counts } = dialerOf(turning);

    for (const scheme of ["http", "https"] as const) {
      turning.allowLoopback = true;
      const dialling = dial({ scheme, port: destination.port });
      turning.allowLoopback = false;
      expect(await dialling).toEqual(refused);
    }

    expect(counts.ssrfBlockedLate).toBe(2);
    expect(destination.received()).toBe("");
  });

  it("refuses our own address behind any name", async () => {
    const { dial } = dialerOf(
      { ...loopbackPolicy, ownOrigins: [{ host: "0.0.0.0", port: 8_080 }] },
      { "me.test": ["127.0.0.7"] },
    );

    expect(await dial({ host: "me.test", isLiteral: false, port: 8_080 })).toMatchObject({
      code: "address_refused",
      text: "endpoint is this service itself",
    });
  });

  it("tries the next address when one does not answer", async () => {
    const destination = await openDestination(() => undefined);
    const { dial } = dialerOf(loopbackPolicy, { "two.test": ["127.0.0.2", "127.0.0.1"] });

    expect(await dial({ host: "two.test", isLiteral: false, port: destination.port })).toBe(
      "opened",
    );
  });

  it("tries four addresses of a name and no more, forbidden ones not counted", async () => {
    const destination = await openDestination(() => undefined);
    const closed = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
    const { dial } = dialerOf(loopbackPolicy, {
      "four.test": ["10.0.0.1", ...closed.slice(1), "10.0.0.2", "127.0.0.1"],
      "five.test": [...closed, "127.0.0.1"],
    });
    const dialled = (host: string) => dial({ host, isLiteral: false, port: destination.port });

    expect(await dialled("four.test")).toBe("opened");
    expect(await dialled("five.test")).toMatchObject({ code: "connect_failed" });
    expect(destination.connections).toHaveLength(1);
  });
});

describe("a destination behind DNS", () => {
  /** The allowed address is loopback here, the forbidden ones are private. */
  const sendTo = async (answers: Parameters<typeof fakeNameServer>[0]): Promise<string> => {
    const destination = await openDestination((socket) => socket.write(ok));
    const sender = openSender({ nameServer: fakeNameServer(answers), hosts: async () => [] });
    const outcome = await sender.send(requestTo(`http://name.test:${destination.port}/`)).outcome;
    return `${inShort(outcome)}, ${sender.counts.connects} connects`;
  };

  it("is reached at its vetted address", async () => {
    expect(await sendTo({ "name.test": ["127.0.0.1"] })).toBe("200 ok, 1 connects");
  });

  it("with allowed and forbidden addresses is reached at an allowed one only", async () => {
    const answers = { "name.test": ["10.0.0.1", "fd00::1", "127.0.0.1", "169.254.169.254"] };

    expect(await sendTo(answers)).toBe("200 ok, 1 connects");
  });

  it("with a thousand addresses is reached at the allowed one", async () => {
    const thousand = Array.from({ length: 999 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);

    expect(await sendTo({ "name.test": [...thousand, "127.0.0.1"] })).toBe("200 ok, 1 connects");
  });

  it("with forbidden addresses only is refused", async () => {
    expect(await sendTo({ "name.test": ["10.0.0.1", "::ffff:10.0.0.1"] })).toBe(
      "unreachable address_refused, 0 connects",
    );
  });

  it("with no address, or no such name, costs the destination a retry", async () => {
    expect(await sendTo({ "name.test": [] })).toBe("unreachable dns_failed, 0 connects");
    expect(await sendTo({})).toBe("unreachable dns_failed, 0 connects");
  });

  it("that changes from an allowed to a forbidden address is refused at the next connection", async () => {
    const destination = await openDestination((socket) => socket.end(ok));
    const addresses = ["127.0.0.1"];
    let aheadMs = 0;
    const clock = { ...realClock, passedMs: () => realClock.passedMs() + aheadMs };
    const nameServer = fakeNameServer({ "name.test": addresses });
    const sender = openSender({ nameServer, clock, hosts: async () => [] });
    const send = async (): Promise<string> =>
      inShort(await sender.send(requestTo(`http://name.test:${destination.port}/`)).outcome);

    expect(await send()).toBe("200 ok");
    addresses[0] = "10.0.0.1";
    aheadMs = 1_001;

    expect(await send()).toBe("unreachable address_refused");
    expect(sender.counts.ssrfBlockedLate).toBe(0);
  });

  it("whose name server is slow times out with the call, which may be aborted before", async () => {
    const never = new Promise<string[]>(() => undefined);
    const sender = openSender({
      nameServer: fakeNameServer({ "name.test": never }),
      hosts: async () => [],
    });

    const timed = sender.send(requestTo("http://name.test/", { timeoutMs: 50 }));
    const aborted = sender.send(requestTo("http://name.test/"));
    aborted.abort();

    expect(inShort(await timed.outcome)).toBe("unreachable timeout");
    expect(inShort(await aborted.outcome)).toBe("aborted");
  });

  it("in /etc/hosts is reached without DNS", async () => {
    const destination = await openDestination((socket) => socket.write(ok));
    const nameServer = fakeNameServer({});
    const sender = openSender({
      nameServer,
      hosts: async (name) => (name === "box" ? ["127.0.0.1"] : []),
    });

    expect(inShort(await sender.send(requestTo(`http://box:${destination.port}/`)).outcome)).toBe(
      "200 ok",
    );
    expect(nameServer.asked).toBe(0);
  });

  it("called localhost is reached without DNS, on either family", async () => {
    const destination = await openDestination((socket) => socket.write(ok));
    const nameServer = fakeNameServer({});

    const outcome = await openSender({ nameServer }).send(
      requestTo(`http://localhost:${destination.port}/`),
    ).outcome;

    expect(inShort(outcome)).toBe("200 ok");
    expect(nameServer.asked).toBe(0);
  });
});
