/**
 * The destination of a message: the rest of a raw target, which is never split at `&` or decoded as a whole.
 * Everything except this service's own query keys belongs to the destination (docs/design/wire#targets).
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
import { isConfiguration } from "../headers/table.ts";
import { misspelt } from "../headers/unknown.ts";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { bytesOfText, isName } from "../wire/text.ts";

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

/** Parses the destination in a target or an element of a batch: a URL, which is not read yet, or the name of a URL group. */
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

/** Decodes a URL once, ASCII only: other characters must be encoded in a URL anyway. */
function parseEncoded(text: string): NamedDestination | Fault {
  const decoded = decodePath(text);
  return /^https?:\/\/?(?=[^/])/i.test(decoded) ? parseDestination(decoded) : invalidScheme;
}

/** The query after an encoded destination belongs to the request, and is appended to the destination's query. */
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

type SplitTarget = {
  /** The target without this service's keys, otherwise byte for byte as it was. */
  readonly text: string;
  /** name, value, name, value …; values decoded like form fields. */
  readonly config: readonly string[];
  readonly token?: string;
};

/**
 * Takes out `qstash_token`, every `upstash-*`, and each `service-*` that is a configuration header or nearly one:
 * `service-id` may be a parameter of the destination, while `service-retires` is a misspelling, which is refused.
 */
function splitQueryConfig(target: string): SplitTarget {
  const queryAt = target.indexOf("?");
  if (queryAt < 0 || !mayHoldOurs.test(target)) return { text: target, config: [] };
  const kept: string[] = [];
  const config: string[] = [];
  let token: string | undefined;
  let taken = false;
  for (const pair of target.slice(queryAt + 1).split("&")) {
    const equalsAt = pair.indexOf("=");
    const key = equalsAt < 0 ? pair : pair.slice(0, equalsAt);
    const lower = key.toLowerCase();
    if (lower === "qstash_token") token = decode(pair.slice(key.length + 1));
    else if (isOurs(lower)) config.push(key, decode(pair.slice(key.length + 1)));
    else {
      kept.push(pair);
      continue;
    }
    taken = true;
  }
  if (!taken) return { text: target, config: [] };
  const head = target.slice(0, queryAt);
  const text = kept.length === 0 ? head : `${head}?${kept.join("&")}`;
  return { text, config, ...(token !== undefined && { token }) };
}

const mayHoldOurs = /qstash_token|upstash-|service-/i;

function isOurs(lower: string): boolean {
  const dialect = dialectOf(lower);
  if (dialect !== "service") return dialect === "upstash";
  const suffix = lower.slice(prefixLength);
  return isConfiguration(suffix) || misspelt(suffix) !== undefined;
}

/** Decodes a value into the text that a header would have. Never throws: broken percent-encoding stays, and is refused with its value. */
const decode = (value: string): string =>
  bytesOfText(new URLSearchParams(`v=${value}`).get("v") ?? "");
