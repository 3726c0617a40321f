/**
 * Where messages may go. One policy serves publish, URL groups and callbacks, for early errors, and the dialer, which
 * decides: only the dialer knows the addresses of a name at that moment (docs/design/delivery#destinations).
 */
import { fault, type Fault } from "../shared/fault.ts";
import {
  type Address,
  type AddressClass,
  type Cidr,
  classify,
  contains,
  parseAddress,
  parseCidr,
} from "./address.ts";
import { unreachable } from "../shared/unreachable.ts";

export type DestinationPolicy = {
  /** Allows 127.0.0.0/8 and ::1, as in the dev profile. No CIDR allows them. */
  readonly allowLoopback: boolean;
  readonly allowPrivateCidrs: readonly Cidr[];
  /** Allows any port but 0, as in the dev profile. */
  readonly anyPort: boolean;
  /** Where this service listens. An origin on loopback, or on all interfaces, covers every loopback alias of its port. */
  readonly ownOrigins: readonly OwnOrigin[];
};

type OwnOrigin = { readonly host: string; readonly port: number };

export type DestinationPolicySettings = {
  readonly allowLoopback?: boolean;
  /** `POSTHASTE_ALLOW_PRIVATE_CIDRS`, split. */
  readonly allowPrivateCidrs?: readonly string[];
  readonly anyPort?: boolean;
  /** `host:port`, with IPv6 in brackets. Port 0, any free port, protects nothing: name the port once it is known. */
  readonly ownOrigins?: readonly string[];
};

/** Reads the settings. A fault names the setting that cannot be read. */
export function destinationPolicy(settings: DestinationPolicySettings): DestinationPolicy | Fault {
  const allowPrivateCidrs: Cidr[] = [];
  for (const text of settings.allowPrivateCidrs ?? []) {
    const cidr = parseCidr(text);
    if (cidr === undefined) return fault("malformed", `not an address range: ${text}`);
    allowPrivateCidrs.push(cidr);
  }
  const ownOrigins: OwnOrigin[] = [];
  for (const text of settings.ownOrigins ?? []) {
    const url = URL.parse(`ws://${text}`);
    const port = Number(/:(\d+)$/.exec(text)?.[1]);
    if (url === null || !(port >= 0)) return fault("malformed", `not a host and a port: ${text}`);
    ownOrigins.push({ host: hostOf(url), port });
  }
  return {
    allowLoopback: settings.allowLoopback ?? false,
    allowPrivateCidrs,
    anyPort: settings.anyPort ?? false,
    ownOrigins,
  };
}

/** Returns the host without brackets and without the dot of the root. */
export function hostOf(url: URL): string {
  const host = url.hostname;
  if (host.startsWith("[")) return host.slice(1, -1);
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** Reports whether names of the local network, the cluster or the host are allowed, as they are if such addresses are. */
export const allowsLocalNames = (policy: DestinationPolicy): boolean =>
  policy.allowLoopback || policy.allowPrivateCidrs.length > 0;

/** Returns why no connection to this address and port may be made, as the end of a sentence; undefined if it is allowed. */
export function addressRefusal(
  text: string,
  port: number,
  policy: DestinationPolicy,
): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return `endpoint resolves to an unreadable address: ${text}`;
  const addressClass = classify(address);
  if (!isAllowed(address, addressClass, policy))
    return `endpoint resolves to ${classNames[addressClass]} address: ${text}`;
  return isOwnAddress(address, addressClass, port, policy) ? ownRefusal : undefined;
}

export const ownRefusal = "endpoint is this service itself";

function isAllowed(
  address: Address,
  addressClass: AddressClass,
  policy: DestinationPolicy,
): boolean {
  switch (addressClass) {
    case "public":
      return true;
    case "loopback":
      return policy.allowLoopback;
    case "private":
    case "link_local":
    case "reserved":
      return isListed(address, policy);
    // No range allows them.
    case "metadata":
    case "unspecified":
    case "multicast":
    case "transition":
      return false;
    default:
      return unreachable(addressClass);
  }
}

const isListed = (address: Address, policy: DestinationPolicy): boolean =>
  policy.allowPrivateCidrs.some((cidr) => contains(cidr, address));

function isOwnAddress(
  address: Address,
  addressClass: AddressClass,
  port: number,
  policy: DestinationPolicy,
): boolean {
  return policy.ownOrigins.some((own) => {
    if (own.port !== port) return false;
    const ownAddress = parseAddress(own.host);
    if (addressClass === "loopback" && isLoopbackOrAll(own.host, ownAddress)) return true;
    return (
      ownAddress !== undefined &&
      contains({ address: ownAddress, prefix: 32 * ownAddress.length }, address)
    );
  });
}

function isLoopbackOrAll(host: string, address: Address | undefined): boolean {
  if (address === undefined) return host === "localhost";
  const addressClass = classify(address);
  return addressClass === "loopback" || addressClass === "unspecified";
}

const classNames: Readonly<Record<AddressClass, string>> = {
  public: "a public",
  loopback: "a loopback",
  private: "a private",
  link_local: "a link-local",
  metadata: "a cloud metadata",
  unspecified: "an unspecified",
  multicast: "a multicast",
  reserved: "a reserved",
  transition: "an IPv4-in-IPv6",
};
