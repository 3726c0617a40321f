import { hash32 } from "../shared/hash.ts";
import { TextCache } from "../shared/text-cache.ts";
import { hostOf } from "./policy.ts";

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

/** A message asks for the hash of its URL four times on its way, and most URLs are repeated. */
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
export const plainOrigin =
  /^(https?):\/\/(?:(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(?::([1-9]\d*))?(?=[/?#\\]|$)/i;

function parsedOrigin(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return url.toLowerCase();
  const port = parsed.port === "" ? "" : `:${parsed.port}`;
  return `${parsed.protocol}//${hostOf(parsed)}${port}`;
}
