import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { jwtVerify } from "jose";
import { type Signed, verifySignature } from "./signature.ts";
import { hashOf, keys, now, sign, type Signing, url } from "./signed.fixture.ts";

const bodies = fc.uint8Array({ maxLength: 64 });
const other = Buffer.from("another body");
const toleranceSeconds = 30;
const tomorrow = now / 1_000 + 86_400;

const judged = (signature: string, body: Uint8Array, more: Partial<Signed> = {}) =>
  verifySignature({ signature, body, keys, now, url, toleranceSeconds, ...more });

describe("a delivery is verified", () => {
  it("whatever its body, when it is signed with either key", async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom("current", "next"), async (body, which) => {
        const signature = await sign(body, { key: keys[which] });

        expect(judged(signature, body)).toMatchObject({
          kind: "verified",
          claims: { iss: "Posthaste", sub: url, jti: "j", body: hashOf(body) },
        });
      }),
    );
  });

  it.each([
    ["of the other dialect", { iss: "Upstash" }],
    ["whose hash is padded", { body: `${hashOf(other)}=` }],
    ["that has just expired, by a clock that may be ahead", { exp: now / 1_000 - 30 }],
    ["that is not valid yet, by a clock that may be behind", { nbf: now / 1_000 + 30 }],
  ])("%s", async (_, claims) => {
    expect(judged(await sign(other, { claims }), other)).toMatchObject({ kind: "verified" });
  });

  it("to any destination, when none is required", async () => {
    const signature = await sign(other, { claims: { sub: "https://b.example" } });

    expect(judged(signature, other, { url: undefined })).toMatchObject({ kind: "verified" });
  });
});

describe("a delivery is refused", () => {
  it.each<[string, Signing, string]>([
    ["signed with another key", { key: "sig_other" }, "the signature matches neither key"],
    ["of another algorithm", { alg: "HS512" }, "the signature does not use HS256"],
    ["of another issuer", { claims: { iss: "Other" } }, 'the issuer is "Other"'],
    ["that has expired", { claims: { exp: now / 1_000 - 31 } }, "the signature has expired"],
    ["not valid yet", { claims: { nbf: now / 1_000 + 31 } }, "the signature is not valid yet"],
    [
      "to another URL",
      { claims: { sub: "https://b.example" } },
      "the signature is for the URL https://b.example",
    ],
    ["without a hash", { claims: { body: undefined } }, "the signature lacks a claim"],
    ["without an end", { claims: { exp: undefined } }, "the signature lacks a claim"],
  ])("%s", async (_, signing, why) => {
    expect(judged(await sign(other, signing), other)).toEqual({ kind: "refused", why });
  });

  it("with an empty key, whatever is signed with it", async () => {
    const empty = { current: "", next: "" };
    // No library signs with an empty key. The signature is by another key, and an empty key must match nothing.
    expect(judged(await sign(other), other, { keys: empty })).toMatchObject({ kind: "refused" });
  });

  it("without a signature, and with text that is none", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("", "..", "a.b.c", "e30.e30.")), (text) => {
        expect(judged(text, other)).toMatchObject({ kind: "refused" });
      }),
    );
  });

  it("that says it needs no signature", () => {
    const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");
    const claims = { iss: "Posthaste", sub: url, exp: tomorrow, nbf: 0, body: hashOf(other) };
    const unsigned = `${part({ alg: "none" })}.${part(claims)}.`;

    expect(judged(unsigned, other)).toMatchObject({ kind: "refused" });
  });

  it("when one character of signature or body is another", async () => {
    const signature = await sign(other);
    const letters = fc.constantFrom(
      ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.",
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(signature.length - 1), letters, async (at, letter) => {
        const changed = signature.slice(0, at) + letter + signature.slice(at + 1);
        const isGood = await jwtVerify(changed, Buffer.from(keys.current), {
          currentDate: new Date(now),
        }).then(
          () => true,
          () => false,
        );

        // The last letter of base64url may carry unused bits. The verifier compares the exact text.
        expect(judged(changed, other).kind).toBe(
          isGood && changed === signature ? "verified" : "refused",
        );
      }),
    );
    expect(judged(signature, Buffer.from("another bodz"))).toEqual({
      kind: "refused",
      why: "the body does not match the signature",
    });
  });
});
