/**
 * Where a message goes: the rest of a raw target. It is never split at `&` or decoded as a whole: everything but this
 * service's own query keys belongs to the destination (docs/design/wire#targets).
 */
import {
  type Api,
  type Destination,
  type Fault,
  fault,
  hasScheme,
  invalidScheme as withoutScheme,
  refusedUrl,
} from "@posthaste/domain";
import { isName } from "../wire/text.ts";
import { splitQueryConfig } from "./query-config.ts";

/** A destination as the caller names it. The operator decides the URL of an API. */
export type NamedDestination = Destination | { readonly kind: "api"; readonly api: Api };

export type DestinationTarget = {
  readonly destination: NamedDestination;
  /** Configuration headers given in the query: name, value, name, value … */
  readonly queryConfig: readonly string[];
  /** The value of `qstash_token` in the query. */
  readonly token?: string;
};

/** Parses the destination at the end of any route. */
export function parseDestinationTarget(rest: string): DestinationTarget | Fault {
  const { text, config, token } = splitQueryConfig(rest);
  const destination = parseDestination(text);
  if ("fault" in destination) return destination;
  return { destination, queryConfig: config, ...(token !== undefined && { token }) };
}

/** Parses what a target or an element of a batch names: a URL, which is not read yet, or the name of a URL group. */
export function parseDestination(text: string): NamedDestination | Fault {
  if (text.length === 0 || text.startsWith("?")) return emptyDestination;
  if (hasScheme(text) || /^https?:\/\//i.test(text)) return { kind: "url", url: text };
  // A proxy has merged the slashes.
  const merged = /^https?:\/(?=[^/])/i.exec(text);
  if (merged) return { kind: "url", url: `${merged[0]}/${text.slice(merged[0].length)}` };
  if (/^https?%3a/i.test(text)) return parseEncoded(text);
  const queryAt = text.indexOf("?");
  const name = queryAt < 0 ? text : text.slice(0, queryAt);
  if (name === "api/llm") return { kind: "api", api: "llm" };
  return isName(name) ? { kind: "group", name } : invalidScheme;
}

/** Decodes a URL once, ASCII only: other characters must stay encoded in a URL anyway. */
function parseEncoded(text: string): NamedDestination | Fault {
  const decoded = decodePath(text);
  return /^https?:\/\/?(?=[^/])/i.test(decoded) ? parseDestination(decoded) : invalidScheme;
}

/** The query behind an encoded destination belongs to the request, and is appended to the destination's query. */
function decodePath(text: string): string {
  const queryAt = text.indexOf("?");
  const encoded = queryAt < 0 ? text : text.slice(0, queryAt);
  const decoded = encoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  if (queryAt < 0) return decoded;
  const query = text.slice(queryAt + 1);
  return `${decoded}${decoded.includes("?") ? "&" : "?"}${query}`;
}

/** Callers know and search for these words. */
const emptyDestination = fault("malformed", "a non-empty destination must be provided");
const invalidScheme = refusedUrl(withoutScheme);
