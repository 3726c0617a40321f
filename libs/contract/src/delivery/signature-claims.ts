/**
 * The claims in a delivery's signature (docs/design/delivery#signatures). They are made at each attempt and live for 5
 * minutes.
 */
import { type Message } from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";

/** Claims of a JWT under `signatureHeader`; times are Unix seconds. */
export type SignatureClaims = {
  readonly iss: string;
  /** The destination as it is dialled and shown (ADR 130). */
  readonly sub: string;
  readonly exp: number;
  /** 0, so that a receiver whose clock is behind does not refuse; present, since some verifiers require it. */
  readonly nbf: number;
  readonly iat: number;
  readonly jti: string;
  /** SHA-256 of the body as sent. */
  readonly body: string;
};

/** The JOSE header. The key is the text of the tenant's current signing key, in UTF-8. */
export const signatureHeader = { alg: "HS256", typ: "JWT" } as const;

const lifeSeconds = 300;

export type SignatureInputs = {
  /** Unix milliseconds. */
  readonly now: number;
  /** base64url of the SHA-256 of the raw body. */
  readonly bodyHash: string;
  readonly jti: string;
};

export function signatureClaims(
  message: Pick<Message, "dialect" | "url">,
  { now, bodyHash, jti }: SignatureInputs,
): SignatureClaims {
  const iat = Math.floor(now / 1_000);
  return {
    iss: dialects[message.dialect].issuer,
    sub: message.url,
    exp: iat + lifeSeconds,
    nbf: 0,
    iat,
    jti,
    body: bodyHash,
  };
}
