/** `-Header-Forward: true`: the request's own headers go to the destination, too (webhooks that cannot set prefixes). */
import { type Fault, type HeaderPair, type Headers, isFault } from "@posthaste/domain";
import { dialectOf } from "../wire/dialects.ts";
import { takeForwarded } from "./forwarded.ts";

/** The unprefixed headers of `flat`. Credentials for us are not the destination's business. */
export function incomingHeaders(flat: readonly string[]): HeaderPair[] | Fault {
  const incoming: HeaderPair[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? "";
    const lower = name.toLowerCase();
    if (kept.has(lower) || dialectOf(lower) !== undefined) continue;
    const refused = takeForwarded(name, name, (flat[i + 1] ?? "").trim(), incoming);
    if (isFault(refused)) return refused;
  }
  return incoming;
}

/** Content-Type has a place of its own. */
const kept: ReadonlySet<string> = new Set(["authorization", "host", "content-type"]);

/** `own`, and before them those of `incoming` that they do not replace. */
export function withIncoming(incoming: Headers, own: Headers): Headers {
  const replaced = new Set(own.map(([name]) => name.toLowerCase()));
  return [...incoming.filter(([name]) => !replaced.has(name.toLowerCase())), ...own];
}
