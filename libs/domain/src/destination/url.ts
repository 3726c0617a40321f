/**
 * The one rule for the URL of a destination, wherever a caller gives one: in a target, a header or JSON (ADR 130).
 * The text that the rule produces is dialled, shown and signed. Its origin is hashed.
 */
import { fault, type Fault, isFault } from "../shared/fault.ts";
import { hash32 } from "../shared/ids.ts";
import { urlLengthMax } from "../shared/limits.ts";
import { TextCache } from "../shared/text-cache.ts";
import { hostOf } from "./policy.ts";

export type DestinationText = {
  /** Visible ASCII without a fragment. */
  readonly text: string;
  /** Path and query as they are sent: the end of `text`, with a `/` added if `text` has no path. */
  readonly path: string;
  readonly parsed: URL;
};

/**
 * Writes a URL as the WHATWG URL standard does, without its fragment: blanks and non-ASCII characters are percent-encoded, a
 * Unicode name becomes its ASCII form, a backslash becomes a slash, and tabs and line breaks are removed. The case of scheme
 * and host, a default port and an empty path stay as given: they name the same place, and receivers compare a signature with
 * the URL that they published to.
 */
export function readUrl(given: string): DestinationText | Fault {
  const text = withoutBlanks(given);
  if (!schemePattern.test(text)) return refusedUrl(invalidScheme);
  if (!text.isWellFormed()) return refusedUrl("endpoint has half a character");
  const plain = plainText(text);
  const parsed = URL.parse(plain ?? text);
  if (parsed === null || parsed.hostname === "") return refusedUrl("endpoint is not a valid URL");
  if (parsed.username !== "" || parsed.password !== "")
    return refusedUrl("endpoint has credentials, send them in the -Forward-Authorization header");
  const written = plain ?? encoded(text, parsed);
  if (written.length > urlLengthMax)
    return refusedUrl(`endpoint is longer than ${urlLengthMax} characters`);
  return { text: written, path: parsed.href.slice(parsed.origin.length), parsed };
}

/** Returns the text of a URL as `readUrl` writes it, for comparisons. Text that is no URL is returned as it is. */
export function standardUrl(given: string): string {
  const plain = plainText(given);
  if (plain !== undefined) return plain;
  const read = readUrl(given);
  return isFault(read) ? given : read.text;
}

/** Reports whether a text is meant as a URL, not as the name of a group. */
export const hasScheme = (given: string): boolean => schemePattern.test(withoutBlanks(given));

/** Reports whether a name, which may be that of a group, looks like the host of a URL without its scheme. */
export const looksLikeHost = (name: string): boolean =>
  /^(?:localhost|\d+(?:\.\d+){3}|(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z]{2,})$/i.test(name);

export const refusedUrl = (why: string): Fault =>
  fault("malformed", `invalid destination url: ${why}`);

/** Callers know and search for these words. */
export const invalidScheme = "endpoint has invalid scheme, add http:// or https://";

// `http:host`, `http:/host` and `http:///host` parse, too, but a reader cannot see where their host begins.
const schemePattern = /^https?:\/\/(?![/\\])/i;

/** Removes the characters that the URL standard removes before it parses. */
function withoutBlanks(given: string): string {
  return blanks.test(given) ? given.replace(around, "").replace(breaks, "") : given;
}

const blanks = /^[\0- ]|[\t\n\r]|[\0- ]$/;
const around = /^[\0- ]+|[\0- ]+$/g;
const breaks = /[\t\n\r]/g;

/**
 * Returns the text without its fragment if nothing else in it has to be rewritten; else undefined. Most URLs need only this.
 */
function plainText(text: string): string | undefined {
  const fragmentAt = text.indexOf("#");
  const whole = fragmentAt < 0 ? text : text.slice(0, fragmentAt);
  const origin = plainOrigin.exec(whole)?.[0];
  if (origin === undefined) return undefined;
  const rest = whole.slice(origin.length);
  return plainRest.test(rest) && !mayHoldDots.test(rest) ? whole : undefined;
}

/** Characters that the URL standard encodes neither in a path nor in a query. */
const plainRest = /^(?:\/[!$-;=@-[\]_a-z|~]*)?(?:\?[!$-&(-;=?-~]*)?$/;
/** Segments of one or two dots, which the standard removes from a path. */
const mayHoldDots = /\/(?:\.|%2e)/i;

function encoded(text: string, parsed: URL): string {
  parsed.hash = "";
  const [, origin = "", next] = /^(\w+:\/\/[^/\\?#]*)(.?)/s.exec(text) ?? [];
  const hasPath = next === "/" || next === "\\";
  const kept = plainOrigin.test(origin) ? origin : parsed.origin;
  return kept + parsed.href.slice(parsed.origin.length + (hasPath ? 0 : 1));
}

/**
 * Hashes scheme, host and port of a destination, the unit of fairness and of connection limits. The hash is of what is
 * dialled, not of what is written: `http://a.example:080\b` has the origin of `http://a.example/`.
 */
export function originHash(url: string): number {
  const known = knownHashes.get(url);
  if (known !== undefined) return known;
  const made = hashOf(url);
  knownHashes.set(url, made);
  return made;
}

/** The hash of a URL is computed four times for a message, and most URLs are repeated. */
const knownHashes = new TextCache<number>({
  entriesMax: 4_096,
  lengthMax: 512,
});

function hashOf(url: string): number {
  const plain = plainOrigin.exec(url);
  if (!plain) return hash32(parsedOrigin(url));
  const [text, scheme = "", port] = plain;
  const isDefault = port !== undefined && port === defaultPorts.get(scheme.toLowerCase());
  return hash32((isDefault ? text.slice(0, -port.length - 1) : text).toLowerCase());
}

const defaultPorts: ReadonlyMap<string, string> = new Map([
  ["http", "80"],
  ["https", "443"],
]);

/**
 * Matches an origin that the URL parser would change only in case and a default port, with a name or four plain
 * numbers, so that most messages need no parse.
 */
const plainOrigin =
  /^(https?):\/\/(?:(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(?::([1-9]\d*))?(?=[/?#\\]|$)/i;

function parsedOrigin(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return url.toLowerCase();
  const port = parsed.port === "" ? "" : `:${parsed.port}`;
  return `${parsed.protocol}//${hostOf(parsed)}${port}`;
}
