import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { bodyHash, Signer } from "./signature.ts";

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

  it("is the MAC that Node makes, for keys of any length, around SHA-256's block, too", () => {
    const signer = new Signer();
    for (const length of [0, 1, 32, 63, 64, 65, 200]) {
      const key = `ü${"k".repeat(length)}`;
      const [header = "", claims = "", mac] = signer
        .sign({ iss: "é".repeat(length) }, key)
        .split(".");
      const made = createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url");
      expect(mac).toBe(made);
    }
  });

  it("hashes the raw bytes of a body, the empty one too", () => {
    for (const body of [Buffer.alloc(0), Buffer.from([0xff, 0x00, 0x0d, 0x0a])]) {
      expect(bodyHash(body)).toBe(createHash("sha256").update(body).digest("base64url"));
    }
  });
});
