/** Builds deliveries with the server's signature, made by another library. */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";

export const keys = { current: "sig_current", next: "sig_next" };
export const url = "https://a.example/x?y=%20";
/** Unix milliseconds. */
export const now = 1_700_000_000_000;
const lifeSeconds = 300;

const secret = (key: string): Uint8Array => new TextEncoder().encode(key);

export const hashOf = (body: Uint8Array): string =>
  createHash("sha256").update(body).digest("base64url");

export type Signing = {
  readonly key?: string;
  readonly alg?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
};

const claimsOf = (body: Uint8Array) => {
  const iat = now / 1_000;
  const hash = hashOf(body);
  return { iss: "Posthaste", sub: url, exp: iat + lifeSeconds, nbf: 0, iat, jti: "j", body: hash };
};

export const sign = (body: Uint8Array, { key, alg = "HS256", claims }: Signing = {}) =>
  new SignJWT({ ...claimsOf(body), ...claims })
    .setProtectedHeader({ alg, typ: "JWT" })
    .sign(secret(key ?? keys.current));

export async function delivery(
  body: string,
  { prefix = "service", id = "msg_1", ...signing }: Signing & Named = {},
): Promise<{ readonly headers: Record<string, string>; readonly body: Uint8Array }> {
  const bytes = new TextEncoder().encode(body);
  const headers = {
    [`${prefix}-signature`]: await sign(bytes, signing),
    [`${prefix}-message-id`]: id,
    [`${prefix}-retried`]: "2",
  };
  return { headers, body: bytes };
}
type Named = { readonly prefix?: string; readonly id?: string };
