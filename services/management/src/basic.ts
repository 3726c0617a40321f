/**
 * The operator's credentials (HTTP Basic, RFC 7617). Every refusal is in the same words, and a network that has failed too
 * often is refused whatever it sends: a password can be guessed, unlike a token (docs/design/security#authentication).
 */
import { hash, timingSafeEqual } from "node:crypto";
import { fault, type Fault } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { createFailureLimit, type Refusal } from "@posthaste/http";

export type Credentials = { readonly user: string; readonly password: string };

/** `authorization`: the header's value, undefined when there is none or more than one. Undefined: it is the operator. */
export type CheckOperator = (
  authorization: string | undefined,
  address: string,
) => Refusal | undefined;

export const basicChallenge = 'Basic realm="posthaste", charset="UTF-8"';

export function createOperatorCheck({ user, password }: Credentials, clock: Clock): CheckOperator {
  const failures = createFailureLimit(clock);
  const [userDigest, passwordDigest] = [digest(user), digest(password)];
  return (authorization, address) => {
    const blockedSeconds = failures.blockedSeconds(address);
    if (blockedSeconds !== undefined) return tooManyFailures(blockedSeconds);
    const given = authorization === undefined ? undefined : credentialsIn(authorization);
    // Both are compared, also when the first is wrong: how long it takes tells nothing.
    const isUser = timingSafeEqual(digest(given?.user ?? ""), userDigest);
    const isPassword = timingSafeEqual(digest(given?.password ?? ""), passwordDigest);
    if (given && isUser && isPassword) return undefined;
    const seconds = failures.failed(address);
    return seconds === undefined ? unauthorized : tooManyFailures(seconds);
  };
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

const unauthorized: Fault = fault("unauthorized", "no or wrong user and password");

const tooManyFailures = (retryAfterSeconds: number): Refusal => ({
  ...fault("too_many_requests", "too many requests without the right user and password"),
  retryAfterSeconds,
});

const scheme = "basic ";
/** User and password may have 255 characters each, of four bytes in base64. */
const lengthMax = 3_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A password may hold colons, a user may not. Base64 in one spelling only. */
function credentialsIn(authorization: string): Credentials | undefined {
  if (authorization.length > lengthMax) return undefined;
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  const encoded = authorization.slice(scheme.length);
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  const text = textOf(bytes);
  const colon = text?.indexOf(":") ?? -1;
  if (text === undefined || colon < 0) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
