/** Judges the URL of a destination, without DNS: what a name stands for is the dialer's to judge, at each connection. */
import { fault, type Fault } from "../shared/fault.ts";
import { urlLengthMax } from "../shared/limits.ts";
import { parseAddress } from "./address.ts";
import {
  addressRefusal,
  allowsLocalNames,
  type DestinationPolicy,
  hostOf,
  ownRefusal,
} from "./policy.ts";
import { isPortAllowed } from "./port.ts";

/** What a caller needs to dial and to write the request; the URL itself is stored as it came. */
export type DestinationUrl = {
  readonly scheme: "http" | "https";
  /** Lower case, without brackets or a last dot. */
  readonly host: string;
  /** The host is an IP address. */
  readonly isLiteral: boolean;
  readonly port: number;
  /** Path and query as they go on the wire. */
  readonly path: string;
};

export type CheckedDestination = { readonly url: DestinationUrl; readonly origin: string };

/** Costs one URL parse and no more; a caller on a hot path may keep results by URL text. All faults are `malformed`. */
export function checkDestination(
  text: string,
  policy: DestinationPolicy,
): CheckedDestination | Fault {
  if (text.length > urlLengthMax)
    return refused(`endpoint is longer than ${urlLengthMax} characters`);
  if (!schemePattern.test(text))
    return refused("endpoint has invalid scheme, add http:// or https://");
  // The parser drops some of these silently: what is stored and shown would not be what is dialled.
  if (invisiblePattern.test(text) || !text.isWellFormed())
    return refused("endpoint has whitespace or control characters");
  const parsed = URL.parse(text);
  if (parsed === null || parsed.hostname === "") return refused("endpoint is not a valid URL");
  if (parsed.username !== "" || parsed.password !== "")
    return refused("endpoint has credentials, send them in the -Forward-Authorization header");

  const host = hostOf(parsed);
  const scheme = parsed.protocol === "https:" ? "https" : "http";
  const port = parsed.port === "" ? defaultPorts[scheme] : Number(parsed.port);
  const isLiteral = parseAddress(host) !== undefined;
  const refusal =
    portRefusal(port, policy) ??
    (isLiteral ? addressRefusal(host, port, policy) : nameRefusal(host, port, policy));
  if (refusal !== undefined) return refused(refusal);
  return {
    url: { scheme, host, isLiteral, port, path: parsed.pathname + parsed.search },
    origin: parsed.origin,
  };
}

const refused = (why: string): Fault => fault("malformed", `invalid destination url: ${why}`);

const defaultPorts = { http: 80, https: 443 } as const;

// `http:host`, `http:/host` and `http:///host` parse, too, but then no reader sees where the host begins.
const schemePattern = /^https?:\/\/(?![/\\])/i;
/** C0, space, DEL, C1, and Unicode's spaces, invisible joiners and direction marks. */
const invisiblePattern =
  /[\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;

const portRefusal = (port: number, policy: DestinationPolicy): string | undefined =>
  isPortAllowed(port, policy) ? undefined : `endpoint port ${port} is not allowed`;

function nameRefusal(name: string, port: number, policy: DestinationPolicy): string | undefined {
  if (name.length > nameLengthMax || !name.split(".").every((label) => labelPattern.test(label)))
    return "endpoint has an invalid host name";
  if (policy.ownOrigins.some((own) => own.port === port && own.host === name)) return ownRefusal;
  if (metadataNames.has(name) && !policy.allowMetadata)
    return `endpoint resolves to a cloud metadata address: ${name}`;
  if (isLoopbackName(name)) {
    if (policy.allowLoopback) return addressRefusal("127.0.0.1", port, policy);
    return `endpoint resolves to a loopback address: ${name}`;
  }
  if (allowsLocalNames(policy)) return undefined;
  return localNamePattern.test(name) ? `endpoint has a local host name: ${name}` : undefined;
}

/** RFC 1035, without the last dot. */
const nameLengthMax = 253;
const labelPattern = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const localNamePattern = /^[^.]+$|\.(?:local|internal|home\.arpa|svc|cluster\.local)$/;
const metadataNames: ReadonlySet<string> = new Set(["metadata.google.internal", "metadata.goog"]);

/** RFC 6761: these never leave the host. */
export const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost");
