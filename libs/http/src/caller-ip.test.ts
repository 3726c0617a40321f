import { type IncomingMessage } from "node:http";
import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import proxyAddr from "proxy-addr";
import { addressSet, callerIp } from "./caller-ip.ts";

const proxies = addressSet(["10.0.0.0/8", "fd00::/8", "192.0.2.1"]);

const asking = (peer: string | undefined, forwardedFor: string | undefined) => ({
  socket: { remoteAddress: peer },
  headers: { "x-forwarded-for": forwardedFor },
});

describe("the caller's address", () => {
  it.each([
    ["the socket's, without a header", "203.0.113.9", undefined, "203.0.113.9"],
    ["the socket's, whatever a stranger claims", "203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["what the trusted proxy saw", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
    [
      "the rightmost that is no proxy's",
      "10.0.0.1",
      "6.6.6.6, 203.0.113.9, 10.0.0.2",
      "203.0.113.9",
    ],
    ["never what a stranger put in front", "10.0.0.1", "1.2.3.4,203.0.113.9", "203.0.113.9"],
    ["the farthest proxy's when all are proxies", "10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"],
    ["the proxy's when the rest is garbage", "10.0.0.1", "1.2.3.4, garbage", "10.0.0.1"],
    ["the proxy's when the rest is empty", "10.0.0.1", "", "10.0.0.1"],
    ["the proxy's when the rest is script", "10.0.0.1", "<script>, 1.2.3.4.5", "10.0.0.1"],
    ["IPv4, when IPv6 wraps it", "::ffff:203.0.113.9", undefined, "203.0.113.9"],
    ["IPv4, when the proxy's is wrapped", "::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
    ["without its zone", "fe80::1%eth0", undefined, "fe80::1"],
    ["without the zone that a header gives", "fd00::1", "fe80::1%25eth0", "fe80::1"],
    ["without a port", "10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
    ["without brackets", "fd00::1", "[2001:db8::1]:443", "2001:db8::1"],
    ["a single trusted address's word", "192.0.2.1", "203.0.113.9", "203.0.113.9"],
    ["not its neighbour's", "192.0.2.2", "203.0.113.9", "192.0.2.2"],
    ["nothing, when the socket has gone", undefined, "203.0.113.9", ""],
  ])("is %s", (_, peer, forwardedFor, expected) => {
    expect(callerIp(asking(peer, forwardedFor), proxies)).toBe(expected);
  });

  it("does not follow a chain without end", () => {
    const chain = ["6.6.6.6", ...Array<string>(10_000).fill("10.0.0.2")].join(",");

    expect(callerIp(asking("10.0.0.1", chain), proxies)).toBe("10.0.0.2");
  });

  it("is the socket's when no proxy is trusted", () => {
    expect(callerIp(asking("10.0.0.1", "203.0.113.9"), addressSet([]))).toBe("10.0.0.1");
  });

  it("is the one that proxy-addr finds, the package that express uses", () => {
    const ranges = ["10.0.0.0/8", "fd00::/8", "192.0.2.1"];
    const trusts = proxyAddr.compile(ranges);
    const proxy = fc.oneof(
      fc.ipV4().map((text) => text.replace(/^\d+/, "10")),
      fc.constantFrom("192.0.2.1", "192.0.2.2", "fd00::1", "fe80::1", "11.0.0.1"),
    );
    const chain = fc.array(fc.oneof(proxy, fc.ipV4()), { maxLength: 6 });
    fc.assert(
      fc.property(fc.oneof(proxy, fc.ipV4()), chain, (peer, before) => {
        const req = asking(peer, before.join(", "));
        expect(callerIp(req, addressSet(ranges))).toBe(
          proxyAddr(req as unknown as IncomingMessage, trusts),
        );
      }),
    );
  });
});
