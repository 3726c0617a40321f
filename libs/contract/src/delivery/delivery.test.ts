import { describe, expect, it } from "@jest/globals";
import { messageFixture } from "../representations/message.fixture.ts";
import { deliveryHeaders } from "./delivery.ts";
import { signatureClaims } from "./delivery.ts";

const marks = { retried: 2, epoch: 5, signature: "jwt" };

describe("a delivery", () => {
  it("in the Upstash dialect carries the headers that its clients read", () => {
    const message = messageFixture({ dialect: "upstash" });

    expect(Object.fromEntries(deliveryHeaders(message, marks))).toEqual({
      "User-Agent": "Upstash-QStash",
      "Upstash-Signature": "jwt",
      "Upstash-Message-Id": message.id,
      "Upstash-Retried": "2",
      "Upstash-Caller-Ip": "192.0.2.7",
      "Upstash-Hop": "1",
    });
  });

  it("in the Service dialect carries the same under its own names, and the epoch", () => {
    const message = messageFixture({ dialect: "service" });

    expect(Object.fromEntries(deliveryHeaders(message, marks))).toEqual({
      "User-Agent": "Posthaste",
      "Service-Signature": "jwt",
      "Service-Message-Id": message.id,
      "Service-Retried": "2",
      "Service-Caller-Ip": "192.0.2.7",
      "Service-Hop": "1",
      "Service-Attempt-Epoch": "5",
    });
  });

  it("says which group and which schedule it comes from", () => {
    const origin = { callerIp: "::1", hop: 3, group: { name: "g" }, scheduleId: "scd_1" };

    const headers = deliveryHeaders(messageFixture({ dialect: "upstash", origin }), marks);

    expect(headers).toContainEqual(["Upstash-Topic-Name", "g"]);
    expect(headers).toContainEqual(["Upstash-Schedule-Id", "scd_1"]);
    expect(headers).toContainEqual(["Upstash-Hop", "3"]);
  });

  it("leaves a forwarded User-Agent alone", () => {
    const message = messageFixture({ headers: [["user-agent", "mine"]] });

    expect(deliveryHeaders(message, marks).map(([name]) => name)).not.toContain("User-Agent");
  });
});

describe("a signature", () => {
  const inputs = { now: 1_700_000_000_999, bodyHash: "hash=", jti: "jwt_1" };

  it.each([
    ["service", "Posthaste"],
    ["upstash", "Upstash"],
  ] as const)(
    "in the %s dialect is issued by %s for five minutes from the attempt",
    (dialect, iss) => {
      const message = messageFixture({ dialect, url: "http://example.com?x=1" });

      expect(signatureClaims(message, inputs)).toEqual({
        iss,
        sub: "http://example.com?x=1",
        exp: 1_700_000_300,
        nbf: 0,
        iat: 1_700_000_000,
        jti: "jwt_1",
        body: "hash=",
      });
    },
  );
});
