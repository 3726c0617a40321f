import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { bodyHash, Signer } from "./compose.ts";

/** Characters of one byte and of two. */
const texts = fc
  .uint8Array({ maxLength: 100 })
  .map((bytes) => Buffer.from(bytes).toString("latin1"));

describe("the signature", () => {
  it("is a JWT that HMAC-SHA256 over the key's literal text verifies, and no other key does", () => {
    const token = new Signer().sign(
      { iss: "Posthaste", sub: "https://example.com" },
      "sig_current",
    );
    const [header = "", claims = "", mac] = token.split(".");

    const macOf = (key: string): string =>
      createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url");
    expect(mac).toBe(macOf("sig_current"));
    expect(mac).not.toBe(macOf("sig_next"));
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({
      alg: "HS256",
      typ: "JWT",
    });
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
      iss: "Posthaste",
      sub: "https://example.com",
    });
  });

  it("is the MAC that Node makes, for any key and any claims", () => {
    const signer = new Signer();
    // Keys longer than the block of SHA-256, 64 bytes, are hashed first.
    const atTheBlock = fc.integer({ min: 63, max: 65 }).map((length) => "k".repeat(length));
    const keys = fc.oneof(texts, atTheBlock);
    const claims = fc.record({ iss: texts, sub: texts });
    fc.assert(
      fc.property(keys, claims, (key, each) => {
        const [header = "", payload = "", mac] = signer.sign(each, key).split(".");
        const made = createHmac("sha256", key).update(`${header}.${payload}`).digest("base64url");

        expect(mac).toBe(made);
        expect(Buffer.from(payload, "base64url").toString()).toBe(JSON.stringify(each));
      }),
    );
  });

  it("hashes the raw bytes of a body, the empty one too", () => {
    for (const body of [Buffer.alloc(0), Buffer.from([0xff, 0x00, 0x0d, 0x0a])]) {
      expect(bodyHash(body)).toBe(createHash("sha256").update(body).digest("base64url"));
    }
  });
});
