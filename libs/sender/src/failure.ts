/** What an error of a socket, of TLS or of undici means for the message: whose doing it was (docs/design/delivery#whose-doing-it-was). */
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

/** No connection came about. Made by the dialer, handed through undici unread. */
export class DialFailure extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("text" in outcome ? outcome.text : outcome.kind);
    this.outcome = outcome;
  }
}

/** An error before or while TCP connects. `reach`: whether this host has an address to call that one from. */
export function connectFailure(error: unknown, reach?: (address: string) => boolean): Outcome {
  return (
    outOfSockets(error, reach) ??
    unreachableBy("connect_failed", `cannot connect: ${nameOf(error)}`)
  );
}

/** An error between TCP's connect and the end of the TLS handshake. */
export function tlsFailure(error: unknown): Outcome {
  return outOfSockets(error) ?? unreachableBy("tls_failed", `TLS failed: ${nameOf(error)}`);
}

/**
 * An error on a connection that stood, before the head of an answer. Only what this host has run out of is ours: whatever
 * else there is, known or not, a destination may have caused, and as a failure of ours it would be caused for ever.
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
  // undici asserts what its parser lets pass: `HTTP/1.1 000`, or 101 without an upgrade. Its message is its source.
  if (code === "ERR_ASSERTION")
    return unreachableBy("protocol_error", "the answer is not HTTP/1.1: it cannot be understood");
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return tlsFailure(error);
  return unreachableBy(
    "connection_lost",
    `the connection broke before an answer: ${nameOf(error)}`,
  );
}

/** The connection ended without a word that says why. */
export const isLost = (failure: Outcome): boolean =>
  failure.kind === "unreachable" && failure.code === "connection_lost";

/** By name, since undici leaves its code undefined; once a length was read, the same is said with another class. */
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

/** All ports are taken, or this host has no address of that family. */
const noLocalAddress = "EADDRNOTAVAIL";

/** No file descriptors, ports or buffers left here: nothing that the destination did. */
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
  // No local address for one of its addresses, and an answer from another: that is how the destination's name is set up.
  const isNameOnly = !errors.every(isExhausted);
  const exhausted = errors
    .filter(isExhausted)
    .map(codeOf)
    .find((code) => !(isNameOnly && code === noLocalAddress));
  return exhausted === undefined
    ? undefined
    : infrastructure("out_of_sockets", `no socket left: ${exhausted}`);
}

/** Of a connect to several addresses. */
const errorsIn = (error: unknown): readonly unknown[] =>
  typeof error === "object" && error !== null && "errors" in error && Array.isArray(error.errors)
    ? error.errors
    : [];

/** OpenSSL's own messages name source files; its codes say as much. */
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

/** How Node.js is started is none of a tenant's business. */
const adviceOfNode = /; if the root CA is installed locally, .*$/s;
