import { describe, expect, it } from "@jest/globals";
import { errors } from "undici";
import { connectFailure, requestFailure, tlsFailure } from "./failure.ts";

const withCode = (code: string): Error => Object.assign(new Error("x"), { code });

describe("a failure", () => {
  it.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS"])(
    "because sockets have run out is ours: %s",
    (code) => {
      const expected = {
        kind: "infrastructure",
        code: "out_of_sockets",
        text: `no socket left: ${code}`,
      };

      expect(connectFailure(withCode(code))).toEqual(expected);
      expect(tlsFailure(withCode(code))).toEqual(expected);
      expect(requestFailure(withCode(code))).toEqual(expected);
      expect(connectFailure(new AggregateError([withCode(code), withCode(code)]))).toEqual(
        expected,
      );
    },
  );

  it.each(["EMFILE", "ENFILE", "ENOBUFS"])(
    "because sockets have run out is ours for one address: %s",
    (code) => {
      const error = new AggregateError([withCode("EHOSTUNREACH"), withCode(code)]);

      expect(connectFailure(error)).toMatchObject({ kind: "infrastructure" });
    },
  );

  it("of every address of a name says why of each", () => {
    const error = new AggregateError([
      withCode("EHOSTUNREACH"),
      withCode("ECONNREFUSED"),
      withCode("ECONNREFUSED"),
    ]);

    expect(connectFailure(error)).toEqual({
      kind: "unreachable",
      code: "connect_failed",
      text: "cannot connect: EHOSTUNREACH, ECONNREFUSED",
    });
  });

  it("of a certificate names its fault, and gives no advice on how to start Node.js", () => {
    const advice =
      "; if the root CA is installed locally, try running Node.js with --use-system-ca";
    const error = new Error(`self-signed certificate${advice}`);
    const coded = Object.assign(error, { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });

    expect(tlsFailure(coded)).toMatchObject({ text: "TLS failed: self-signed certificate" });
  });

  it.each(["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET"])(
    "of a standing connection is the destination's: %s",
    (code) => {
      expect(requestFailure(withCode(code))).toMatchObject({
        kind: "unreachable",
        code: "connection_lost",
      });
    },
  );
});

/** Every error of the client library, with its meaning. A new error must be given a meaning here. */
const verdicts: Readonly<Record<string, string>> = {
  AbortError: "connection_lost",
  BalancedPoolMissingUpstreamError: "connection_lost",
  BodyTimeoutError: "connection_lost",
  ClientClosedError: "connection_lost",
  ClientDestroyedError: "connection_lost",
  ConnectTimeoutError: "connection_lost",
  HTTPParserError: "protocol_error",
  HeadersOverflowError: "header_overflow",
  HeadersTimeoutError: "connection_lost",
  InformationalError: "connection_lost",
  InvalidArgumentError: "protocol_error",
  InvalidReturnValueError: "connection_lost",
  MaxOriginsReachedError: "connection_lost",
  MaxRedirectsError: "connection_lost",
  MessageSizeExceededError: "connection_lost",
  NotSupportedError: "protocol_error",
  ProxyConnectionError: "connection_lost",
  RequestAbortedError: "connection_lost",
  RequestContentLengthMismatchError: "protocol_error",
  RequestRetryError: "connection_lost",
  ResponseContentLengthMismatchError: "protocol_error",
  ResponseError: "connection_lost",
  ResponseExceededMaxSizeError: "connection_lost",
  SecureProxyConnectionError: "connection_lost",
  Socks5ProxyError: "connection_lost",
  SocketError: "connection_lost",
  UndiciError: "connection_lost",
  WebAssemblyNotSupportedError: "connection_lost",
};

describe("an error of the client library is the destination's, and costs a retry", () => {
  it.each(Object.keys(errors))("%s", (name) => {
    const code = verdicts[name];
    const made: unknown = Reflect.construct(Reflect.get(errors, name) as new () => Error, [
      "x",
      500,
      {},
    ]);

    expect(requestFailure(made)).toMatchObject({ kind: "unreachable", code });
    expect(code).toBeDefined();
  });

  it.each<[string, unknown, string]>([
    ["an assertion about what it has parsed", withCode("ERR_ASSERTION"), "protocol_error"],
    ["one of the WebAssembly that parses", new RangeError("out of bounds"), "connection_lost"],
    ["one of TLS on a standing connection", withCode("ERR_SSL_BAD_RECORD_MAC"), "tls_failed"],
    ["renegotiation", withCode("ERR_TLS_RENEGOTIATION_DISABLED"), "tls_failed"],
    ["one that is not known", new Error("never seen"), "connection_lost"],
    ["something that is no error", undefined, "connection_lost"],
  ])("so is %s", (_, error, code) => {
    expect(requestFailure(error)).toMatchObject({ kind: "unreachable", code });
  });

  it("so is a name whose addresses are all of a family that this host does not have", () => {
    const none = (address: string): Error => Object.assign(withCode("EADDRNOTAVAIL"), { address });
    const hasIpv4 = (address: string): boolean => !address.includes(":");
    const [one, other, full] = ["2001:db8::1", "2001:db8::2", "192.0.2.1"].map(none);

    for (const error of [one, new AggregateError([one, other])])
      expect(connectFailure(error, hasIpv4)).toMatchObject({ code: "connect_failed" });
    for (const error of [full, withCode("EADDRNOTAVAIL")])
      expect(connectFailure(error, hasIpv4)).toMatchObject({ code: "out_of_sockets" });
  });

  it("so is a name with an address that this host cannot route to, if another has answered", () => {
    const error = new AggregateError([withCode("EADDRNOTAVAIL"), withCode("ECONNREFUSED")]);

    expect(connectFailure(error)).toMatchObject({ kind: "unreachable", code: "connect_failed" });
  });
});
