import { describe, expect, it } from "@jest/globals";
import { connectFailure, requestFailure, tlsFailure } from "./failure.ts";

const withCode = (code: string): Error => Object.assign(new Error("x"), { code });

describe("a failure", () => {
  it.each(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS"])(
    "for want of sockets is ours: %s",
    (code) => {
      const expected = {
        kind: "infrastructure",
        code: "out_of_sockets",
        text: `no socket left: ${code}`,
      };

      expect(connectFailure(withCode(code))).toEqual(expected);
      expect(tlsFailure(withCode(code))).toEqual(expected);
      expect(requestFailure(withCode(code))).toEqual(expected);
      expect(
        connectFailure(new AggregateError([withCode("EHOSTUNREACH"), withCode(code)])),
      ).toEqual(expected);
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
