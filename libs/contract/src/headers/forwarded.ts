/** Headers that a caller wants the destination to get: which may pass, and which are ours or the connection's. */
import { type Fault, type HeaderPair, type Headers, limits } from "@posthaste/domain";
import { isHeaderValue, isToken } from "../wire/text.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { malformed } from "./setting.ts";

/** One `-Forward-<name>` header. `field` is its full name as the caller wrote it. */
export function takeForwarded(
  field: string,
  name: string,
  value: string,
  forwarded: HeaderPair[],
): Fault | undefined {
  const named = { name: field };
  if (name.length > limits.headerNameLengthMax || !isToken(name)) {
    return malformed(
      named,
      `must end in a header name of 1 to ${limits.headerNameLengthMax} characters`,
    );
  }
  if (value.length > limits.headerValueBytesMax) {
    return malformed(named, `must be at most ${limits.headerValueBytesMax} bytes`);
  }
  if (!isHeaderValue(value)) {
    return malformed(named, "must hold visible ASCII characters, spaces and tabs only");
  }
  forwarded.push([name, value]);
  return undefined;
}

/** What of `given` is sent: without the connection's names, those that a Connection header lists, and those we set ourselves. */
export function forwardable(given: Headers): Headers {
  const listed = listedByConnection(given);
  const passes = ([name]: HeaderPair) => {
    const lower = name.toLowerCase();
    return !isOfTheConnection(lower) && !isOurs(lower) && !listed?.has(lower);
  };
  return given.every(passes) ? given : given.filter(passes);
}

/** Number and size of all that one request forwards. */
export function checkForwardedSize(headers: Headers, family: string): Fault | undefined {
  const named = { name: `${family}Forward-*` };
  if (headers.length > limits.forwardHeadersMax) {
    return malformed(named, `must be at most ${limits.forwardHeadersMax} headers`);
  }
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes > limits.forwardHeaderBytesMax
    ? malformed(named, `must be at most ${limits.forwardHeaderBytesMax} bytes together`)
    : undefined;
}

const connectionNames: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Hop-by-hop names, and those that frame the request (docs/design/wire#headers). */
const isOfTheConnection = (lower: string): boolean =>
  connectionNames.has(lower) || lower.startsWith("proxy-");

/** docs/design/wire#headers: only these, so that `-Forward-Upstash-Workflow-*` passes. */
const ownSuffixes: ReadonlySet<string> = new Set([
  "signature",
  "message-id",
  "retried",
  "topic-name",
  "schedule-id",
  "caller-ip",
  "region",
  "hop",
  "attempt-epoch",
]);

const isOurs = (lower: string): boolean =>
  dialectOf(lower) !== undefined && ownSuffixes.has(lower.slice(prefixLength));

function listedByConnection(headers: Headers): ReadonlySet<string> | undefined {
  let listed: Set<string> | undefined;
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== "connection") continue;
    listed ??= new Set();
    for (const item of value.split(",")) listed.add(item.trim().toLowerCase());
  }
  return listed;
}
