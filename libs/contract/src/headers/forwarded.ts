/** Headers that a caller wants to send to the destination: which are allowed, and which belong to this service or to the connection. */
import {
  connectionHeader,
  type Fault,
  type HeaderPair,
  type Headers,
  limits,
} from "@posthaste/domain";
import { isFieldValue, isHeaderValue, isToken } from "../wire/text.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { type LeaveOut, malformed, type RequestDraft } from "./setting.ts";

/**
 * Takes one header to send on. `field` is its full name as the caller wrote it. A header that must not be named is
 * noted as unfit: a request that names it is refused, and a request that passes on all its headers goes without those
 * that cannot be sent.
 */
export function takeForwarded(
  field: string,
  name: string,
  value: string,
  request: Pick<RequestDraft, "forwarded" | "unfit">,
): void {
  const why = whyUnfit(name, value);
  if (why === undefined) {
    request.forwarded.push([name, value]);
    return;
  }
  const isSent = isSendable(name, value);
  const unfit = { name, isSent, refusal: malformed({ name: field }, why) };
  request.unfit = [...(request.unfit ?? []), unfit];
  if (isSent) request.forwarded.push([name, value]);
}

function whyUnfit(name: string, value: string): string | undefined {
  if (name.length > limits.headerNameLengthMax || !isToken(name))
    return `must end in a header name of 1 to ${limits.headerNameLengthMax} characters`;
  if (value.length > limits.headerValueBytesMax)
    return `must be at most ${limits.headerValueBytesMax} bytes`;
  return isHeaderValue(value)
    ? undefined
    : "must hold visible ASCII characters, spaces and tabs only";
}

/** Reports whether a header can be sent; bytes beyond ASCII are sent as they came. */
const isSendable = (name: string, value: string): boolean =>
  name.length <= limits.headerNameLengthMax &&
  isToken(name) &&
  value.length <= limits.headerValueBytesMax &&
  isFieldValue(value);

/** Returns the headers that fit into one request beside `own`, in their order. Prefixed headers and those of the body are chosen first. */
export function fitting(headers: Headers, own: Headers, leaveOut: LeaveOut): Headers {
  let count = own.length;
  let bytes = sizeOf(own);
  const left = new Set<HeaderPair>();
  const [first = [], rest = []] = [true, false].map((is) =>
    headers.filter(([name]) => isNeeded(name) === is),
  );
  for (const pair of [...first, ...rest]) {
    const size = sizeOf([pair]);
    if (count < limits.forwardHeadersMax && bytes + size <= limits.forwardHeaderBytesMax) {
      count++;
      bytes += size;
      continue;
    }
    left.add(pair);
    leaveOut(pair[0]);
  }
  return left.size === 0 ? headers : headers.filter((pair) => !left.has(pair));
}

const isNeeded = (name: string): boolean => {
  const lower = name.toLowerCase();
  return dialectOf(lower) !== undefined || lower.startsWith("content-");
};

function sizeOf(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

/**
 * Returns the headers of `given` that are sent: without those of the connection, those that a Connection header
 * lists, and those that this service sets itself.
 */
export function forwardable(given: Headers): Headers {
  const listed = listedByConnection(given);
  const passes = ([name]: HeaderPair) => {
    const lower = name.toLowerCase();
    return !connectionHeader.test(lower) && !isOurs(lower) && !listed?.has(lower);
  };
  return given.every(passes) ? given : given.filter(passes);
}

/** Checks the number and the size of all headers that one request forwards. */
export function checkForwardedSize(headers: Headers, family: string): Fault | undefined {
  const named = { name: `${family}Forward-*` };
  if (headers.length > limits.forwardHeadersMax) {
    return malformed(named, `must be at most ${limits.forwardHeadersMax} headers`);
  }
  return sizeOf(headers) > limits.forwardHeaderBytesMax
    ? malformed(named, `must be at most ${limits.forwardHeaderBytesMax} bytes together`)
    : undefined;
}

/** Representation headers (RFC 9110 §8), which travel with the bytes of a body; by lower-case name. */
export const representationNames: ReadonlyMap<string, string> = new Map(
  ["Content-Type", "Content-Encoding", "Content-Language"].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** Only these suffixes, so that `-Forward-Upstash-Workflow-*` is allowed (docs/design/wire#headers). */
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

/** Reports whether deliveries carry a header of this lower-case suffix. */
export const isOfDeliveries = (suffix: string): boolean => ownSuffixes.has(suffix);

const isOurs = (lower: string): boolean =>
  dialectOf(lower) !== undefined && isOfDeliveries(lower.slice(prefixLength));

function listedByConnection(headers: Headers): ReadonlySet<string> | undefined {
  let listed: Set<string> | undefined;
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== "connection") continue;
    listed ??= new Set();
    for (const item of value.split(",")) listed.add(item.trim().toLowerCase());
  }
  return listed;
}
