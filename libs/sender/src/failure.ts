/** Classifies errors of sockets, TLS and undici (docs/design/delivery#failures-of-the-destination-and-of-ours). */
import { type InfrastructureCode, type Outcome, type UnreachableCode } from "@posthaste/domain";

export const unreachableBy = (code: UnreachableCode, text: string): Outcome => ({
  kind: "unreachable",
  code,
  text,
});

export const infrastructure = (code: InfrastructureCode, text: string): Outcome => ({
  kind: "infrastructure",
  code,
  text,
});

/** No connection was made. Thrown by the dialer, and passed through undici unread. */
export class DialFailure extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("text" in outcome ? outcome.text : outcome.kind);
    this.outcome = outcome;
  }
}

/**
 * Classifies an error before or while TCP connects. `reach` reports whether this host has an address from which to call the given one.
 */
export function connectFailure(error: unknown, reach?: (address: string) => boolean): Outcome {
  return (
    outOfSockets(error, reach) ??
    unreachableBy("connect_failed", `cannot connect: ${nameOf(error)}`)
  );
}

/** Classifies an error between TCP's connect and the end of the TLS handshake. */
export function tlsFailure(error: unknown): Outcome {
  return outOfSockets(error) ?? unreachableBy("tls_failed", `TLS failed: ${nameOf(error)}`);
}

/**
 * Classifies an error on an open connection, before the head of an answer. Only a shortage of this host is a failure
 * of ours: a destination may have caused any other error, known or not, and could cause a failure of ours for ever.
 */
export function requestFailure(error: unknown): Outcome {
  if (error instanceof DialFailure) return error.outcome;
  const ours = outOfSockets(error);
  if (ours !== undefined) return ours;
  const code = codeOf(error);
  if (code === "UND_ERR_HEADERS_OVERFLOW")
    return unreachableBy("header_overflow", "the answer has too many bytes of headers");
  if (unwritableCodes.has(code))
    return unreachableBy("protocol_error", `the request cannot be written: ${messageOf(error)}`);
  if (isParserError(error) || protocolMessages.has(messageOf(error)))
    return unreachableBy("protocol_error", `the answer is not HTTP/1.1: ${messageOf(error)}`);
  // undici asserts on input that its parser accepts: `HTTP/1.1 000`, or 101 without an upgrade. The message of the
  // error is its source text.
  if (code === "ERR_ASSERTION")
    return unreachableBy("protocol_error", "the answer is not HTTP/1.1: it cannot be parsed");
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return tlsFailure(error);
  return unreachableBy(
    "connection_lost",
    `the connection broke before an answer: ${nameOf(error)}`,
  );
}

/** Reports whether the connection ended without a reason. */
export const isLost = (failure: Outcome): boolean =>
  failure.kind === "unreachable" && failure.code === "connection_lost";

/** Matches by name, since undici leaves the code undefined; once a length was read, undici reports the same error with another class. */
const isParserError = (error: unknown): boolean =>
  codeOf(error) === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" ||
  (Error.isError(error) && error.name === "HTTPParserError");

const unwritableCodes: ReadonlySet<string> = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
]);
/** undici has one class for these and for a broken connection. */
const protocolMessages: ReadonlySet<string> = new Set(["bad response", "bad upgrade"]);

/** The code when all ports are taken, or this host has no address of that family. */
const noLocalAddress = "EADDRNOTAVAIL";

/** The codes when this host has no file descriptors, ports or buffers left, which is not the destination's fault. */
const exhaustedCodes: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  noLocalAddress,
  "ENOBUFS",
  "ENOMEM",
]);

function outOfSockets(
  error: unknown,
  reach: (address: string) => boolean = () => true,
): Outcome | undefined {
  const several = errorsIn(error);
  const errors = several.length > 0 ? several : [error];
  const isExhausted = (each: unknown): boolean => {
    const address = addressOf(each);
    const isUnreached = codeOf(each) === noLocalAddress && address !== undefined && !reach(address);
    return exhaustedCodes.has(codeOf(each)) && !isUnreached;
  };
  // If one address of the destination has no local counterpart, and another fails otherwise, the cause is the destination's name.
  const isNameOnly = !errors.every(isExhausted);
  const exhausted = errors
    .filter(isExhausted)
    .map(codeOf)
    .find((code) => !(isNameOnly && code === noLocalAddress));
  return exhausted === undefined
    ? undefined
    : infrastructure("out_of_sockets", `no socket left: ${exhausted}`);
}

/** The errors of a connect to several addresses. */
const errorsIn = (error: unknown): readonly unknown[] =>
  typeof error === "object" && error !== null && "errors" in error && Array.isArray(error.errors)
    ? error.errors
    : [];

/** Returns the code if there is one: OpenSSL's messages name source files, and its codes say as much. */
function nameOf(error: unknown): string {
  const several = errorsIn(error).map(codeOf);
  if (several.length > 0) return [...new Set(several)].join(", ");
  const code = codeOf(error);
  return code === "" || !code.startsWith("E") || code.startsWith("ERR_TLS")
    ? messageOf(error)
    : code;
}

export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";

const addressOf = (error: unknown): string | undefined =>
  Error.isError(error) && "address" in error && typeof error.address === "string"
    ? error.address
    : undefined;

const messageOf = (error: unknown): string =>
  typeof error === "object" &&
  error !== null &&
  "message" in error &&
  typeof error.message === "string"
    ? error.message.replace(adviceOfNode, "")
    : String(error);

/** Removed from messages: how Node.js is started does not concern a tenant. */
const adviceOfNode = /; if the root CA is installed locally, .*$/s;
