/** Verifies that the server sent a delivery. The signature is a JWT, HS256, over destination, time and the body's hash. */
import { Buffer } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export type Keys = {
  readonly current: string;
  /** The key after the next rotation. Either key may sign. */
  readonly next?: string | undefined;
};

export type Claims = {
  /** The dialect of the headers: `Posthaste` or `Upstash`. */
  readonly iss: string;
  /** The destination as it was published. */
  readonly sub: string;
  readonly exp: number;
  readonly nbf: number;
  readonly iat?: number;
  /** The id of this attempt. */
  readonly jti?: string;
  readonly body: string;
};

export type Signed = {
  readonly signature: string;
  readonly body: Uint8Array;
  readonly keys: Keys;
  /** Unix milliseconds. */
  readonly now: number;
  /** The expected destination. Undefined accepts any. */
  readonly url?: string | undefined;
  /** The seconds by which the clocks may differ. */
  readonly toleranceSeconds: number;
};

export type Verdict =
  | { readonly kind: "verified"; readonly claims: Claims }
  | { readonly kind: "refused"; readonly why: string };

const refused = (why: string): Verdict => ({ kind: "refused", why });

export function verifySignature(signed: Signed): Verdict {
  const { signature, body, keys, now, url, toleranceSeconds } = signed;
  const parts = signature.split(".");
  const [header = "", payload = "", mac = ""] = parts;
  if (parts.length !== 3) return refused("the signature is not a JWT");
  // Never trust the algorithm that a token names.
  if (decoded(header)?.["alg"] !== "HS256") return refused("the signature does not use HS256");
  const isBy = (key: string | undefined) =>
    key !== undefined && key !== "" && isMac(key, `${header}.${payload}`, mac);
  if (!isBy(keys.current) && !isBy(keys.next)) return refused("the signature matches neither key");
  const claims = claimsOf(decoded(payload));
  if (!claims) return refused("the signature lacks a claim");
  if (!issuers.has(claims.iss)) return refused(`the issuer is ${JSON.stringify(claims.iss)}`);
  const seconds = now / 1_000;
  if (seconds > claims.exp + toleranceSeconds) return refused("the signature has expired");
  if (seconds < claims.nbf - toleranceSeconds) return refused("the signature is not valid yet");
  if (url !== undefined && claims.sub !== url)
    return refused(`the signature is for the URL ${claims.sub}`);
  if (!isSame(claims.body.replace(/=+$/, ""), hashOf(body)))
    return refused("the body does not match the signature");
  return { kind: "verified", claims };
}

const issuers: ReadonlySet<string> = new Set(["Posthaste", "Upstash"]);

const isMac = (key: string, text: string, mac: string): boolean =>
  isSame(mac, createHmac("sha256", key).update(text).digest("base64url"));

/** Compares in constant time. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const hashOf = (body: Uint8Array): string => createHash("sha256").update(body).digest("base64url");

function decoded(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof json === "object" && json !== null ? { ...json } : undefined;
  } catch {
    return undefined;
  }
}

function claimsOf(json: Readonly<Record<string, unknown>> | undefined): Claims | undefined {
  const { iss, sub, exp, nbf, iat, jti, body } = json ?? {};
  if (typeof iss !== "string" || typeof sub !== "string" || typeof body !== "string") return;
  if (typeof exp !== "number" || typeof nbf !== "number") return;
  return {
    ...{ iss, sub, exp, nbf, body },
    ...(typeof iat === "number" && { iat }),
    ...(typeof jti === "string" && { jti }),
  };
}
