/** Checks the URL of a destination without DNS. The sender checks the addresses of a name, at each connection. */
import { type Fault, isFault } from "../shared/fault.ts";
import { parseAddress } from "./address.ts";
import {
  addressRefusal,
  allowsLocalNames,
  type DestinationPolicy,
  hostOf,
  ownRefusal,
} from "./policy.ts";
import { isPortAllowed } from "./port.ts";
import { readUrl, refusedUrl } from "./url.ts";

/** A destination in the parts that dialing and the request line need. */
export type DestinationUrl = {
  readonly scheme: "http" | "https";
  /** Lower case, without brackets and without a final dot. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
  /** Path and query as they are sent. */
  readonly path: string;
};

export type CheckedDestination = {
  /** The URL as it is stored, shown and signed; see `readUrl`. */
  readonly text: string;
  readonly url: DestinationUrl;
  readonly origin: string;
};

/**
 * Checks a destination, for the cost of one URL parse; a caller on a hot path may keep results by URL text. All faults are
 * `malformed`.
 */
export function checkDestination(
  given: string,
  policy: DestinationPolicy,
): CheckedDestination | Fault {
  const read = readUrl(given);
  if (isFault(read)) return read;
  const { text, path, parsed } = read;
  const host = hostOf(parsed);
  const scheme = parsed.protocol === "https:" ? "https" : "http";
  const port = parsed.port === "" ? defaultPorts[scheme] : Number(parsed.port);
  const isLiteral = parseAddress(host) !== undefined;
  const refusal =
    portRefusal(port, policy) ??
    (isLiteral ? addressRefusal(host, port, policy) : nameRefusal(host, port, policy));
  if (refusal !== undefined) return refusedUrl(refusal);
  return { text, url: { scheme, host, isLiteral, port, path }, origin: parsed.origin };
}

const defaultPorts = { http: 80, https: 443 } as const;

const portRefusal = (port: number, policy: DestinationPolicy): string | undefined =>
  isPortAllowed(port, policy) ? undefined : `endpoint port ${port} is not allowed`;

function nameRefusal(name: string, port: number, policy: DestinationPolicy): string | undefined {
  if (name.length > nameLengthMax || !name.split(".").every((label) => labelPattern.test(label)))
    return "endpoint has an invalid host name";
  if (policy.ownOrigins.some((own) => own.port === port && own.host === name)) return ownRefusal;
  if (metadataNames.has(name)) return `endpoint resolves to a cloud metadata address: ${name}`;
  if (isLoopbackName(name)) {
    if (policy.allowLoopback) return addressRefusal("127.0.0.1", port, policy);
    return `endpoint resolves to a loopback address: ${name}`;
  }
  if (allowsLocalNames(policy)) return undefined;
  return localNamePattern.test(name) ? `endpoint has a local host name: ${name}` : undefined;
}

/** The bound of RFC 1035, without the final dot. */
const nameLengthMax = 253;
const labelPattern = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const localNamePattern = /^[^.]+$|\.(?:local|internal|home\.arpa|svc|cluster\.local)$/;
const metadataNames: ReadonlySet<string> = new Set(["metadata.google.internal", "metadata.goog"]);

/** Reports whether a name is one that never leaves the host (RFC 6761). */
export const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost");
