/**
 * The one rule for the URL of a destination, wherever a caller gives one: in a target, a header or JSON (ADR 130). The text that it
 * makes is what is dialled, shown and signed.
 */
import { fault, type Fault, isFault } from "../shared/fault.ts";
import { urlLengthMax } from "../shared/limits.ts";
import { plainOrigin } from "./origin.ts";

export type DestinationText = {
  /** Visible ASCII without a fragment. */
  readonly text: string;
  /** Path and query as they go on the wire: the end of `text`, or `/` and that. */
  readonly path: string;
  /** `text`, parsed. */
  readonly parsed: URL;
};

/**
 * Writes a URL as the WHATWG URL standard does, without its fragment: blanks and what is beyond ASCII are percent-encoded, a name in
 * Unicode becomes its ASCII form, a backslash a slash, and tabs and line breaks are left out. The case of scheme and host, a
 * default port and an empty path stay as they are given: they name the same place, and receivers compare a signature with the URL that
 * they have published to.
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

/** The text of a URL as `readUrl` writes it, for what is compared with it. What is none is itself. */
export function standardUrl(given: string): string {
  const plain = plainText(given);
  if (plain !== undefined) return plain;
  const read = readUrl(given);
  return isFault(read) ? given : read.text;
}

/** Whether a text is meant as a URL, and not as the name of something. */
export const hasScheme = (given: string): boolean => schemePattern.test(withoutBlanks(given));

/** A name that may be one of a group, and looks like the host of a URL without its scheme. */
export const looksLikeHost = (name: string): boolean =>
  /^(?:localhost|\d+(?:\.\d+){3}|(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z]{2,})$/i.test(name);

export const refusedUrl = (why: string): Fault =>
  fault("malformed", `invalid destination url: ${why}`);

/** In the words that callers know and search for. */
export const invalidScheme = "endpoint has invalid scheme, add http:// or https://";

// `http:host`, `http:/host` and `http:///host` parse, too, but then no reader sees where the host begins.
const schemePattern = /^https?:\/\/(?![/\\])/i;

/** Characters that the URL standard removes before it parses. */
function withoutBlanks(given: string): string {
  return blanks.test(given) ? given.replace(around, "").replace(breaks, "") : given;
}

const blanks = /^[\0- ]|[\t\n\r]|[\0- ]$/;
const around = /^[\0- ]+|[\0- ]+$/g;
const breaks = /[\t\n\r]/g;

/** The text as it is, but for its fragment, if nothing of it has to be written in another way. Most need no more than this look. */
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
/** Segments of one dot or two, which the standard takes out of a path. */
const mayHoldDots = /\/(?:\.|%2e)/i;

function encoded(text: string, parsed: URL): string {
  parsed.hash = "";
  const [, origin = "", next] = /^(\w+:\/\/[^/\\?#]*)(.?)/s.exec(text) ?? [];
  const hasPath = next === "/" || next === "\\";
  const kept = plainOrigin.test(origin) ? origin : parsed.origin;
  return kept + parsed.href.slice(parsed.origin.length + (hasPath ? 0 : 1));
}
