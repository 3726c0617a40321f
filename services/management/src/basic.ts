/**
 * Checks the credentials of operators (HTTP Basic, RFC 7617). Every refusal has the same words
 * (docs/design/security#authentication).
 *
 * (1) The right password is accepted however often its network has failed. From a network that must wait, only
 *     `guessesMax` guesses a second are checked, so that a password of sixteen characters is out of reach.
 * (2) A request without credentials is not a guess and not counted, since any page can make a browser send one.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { fault, type Fault, type OperatorRole } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { createFailureLimit, networkOf, type Refusal } from "@posthaste/http";

export type Credentials = {
  readonly user: string;
  readonly password: string;
  readonly role: OperatorRole;
};

/** Returns the operator whose credentials these are. `authorization`: the header's value; undefined when there is none or more than one. */
export type CheckOperator = (
  authorization: string | undefined,
  address: string,
) => Credentials | Refusal;

export const basicChallenge = 'Basic realm="posthaste", charset="UTF-8"';

export function createOperatorCheck(
  operators: readonly Credentials[],
  clock: Clock,
): CheckOperator {
  const failures = createFailureLimit(clock);
  const known = operators.map((operator) => ({
    operator,
    user: digest(operator.user),
    password: digest(operator.password),
  }));
  const guesses = guessesOfSecond(clock);
  return (authorization, address) => {
    if (authorization === undefined) return unauthorized;
    const blockedSeconds = failures.blockedSeconds(address);
    if (blockedSeconds !== undefined && guesses.of(address) >= guessesMax)
      return tooManyFailures(blockedSeconds);
    const given = credentialsIn(authorization);
    const [user, password] = [digest(given?.user ?? ""), digest(given?.password ?? "")];
    // Compares all, even when one is wrong or right, so that the time taken reveals nothing.
    const [found] = known.filter((one) => {
      const isUser = timingSafeEqual(user, one.user);
      const isPassword = timingSafeEqual(password, one.password);
      return isUser && isPassword;
    });
    if (given && found) return found.operator;
    if (blockedSeconds !== undefined) guesses.add(address);
    const seconds = failures.failed(address);
    return seconds === undefined ? unauthorized : tooManyFailures(seconds);
  };
}

/** The guesses checked each second from a network that must wait. */
const guessesMax = 20;

/** Counts the wrong guesses of each network in the current second. */
function guessesOfSecond(clock: Clock) {
  let second = 0;
  const counts = new Map<string, number>();
  const current = (): typeof counts => {
    const now = Math.floor(clock.now() / 1_000);
    // Bounded by the guesses that the process checks in one second.
    if (now !== second) counts.clear();
    second = now;
    return counts;
  };
  return {
    of: (address: string): number => current().get(networkOf(address)) ?? 0,
    add: (address: string): void => {
      const network = networkOf(address);
      current().set(network, (counts.get(network) ?? 0) + 1);
    },
  };
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

const unauthorized: Fault = fault("unauthorized", "user and password are missing or wrong");

const tooManyFailures = (retryAfterSeconds: number): Refusal => ({
  ...fault("too_many_requests", "too many requests without the right user and password"),
  retryAfterSeconds,
});

const scheme = "basic ";
/** User and password may have 255 characters each, of four bytes, in base64. */
const lengthMax = 3_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses credentials. A password may contain colons, a user may not. Only canonical base64 is accepted. */
function credentialsIn(authorization: string): Omit<Credentials, "role"> | undefined {
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
