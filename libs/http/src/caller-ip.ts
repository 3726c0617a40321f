/** Finds the address of the caller behind trusted proxies, and no further. */
import { type IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

/** Addresses by range. An IPv4 address matches in both its forms. */
export type AddressSet = { readonly size: number; has(address: string): boolean };

/** `ranges` as the configuration has checked them: `10.0.0.0/8`, `fd00::/8`. */
export function addressSet(ranges: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", prefix] = range.split("/");
    const family = isIP(network) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(network, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return {
    size: ranges.length,
    has: (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"),
  };
}

type Asking = Pick<IncomingMessage, "headers"> & {
  readonly socket: Pick<Socket, "remoteAddress">;
};

/** Hops read of X-Forwarded-For; a longer chain is fake. */
const hopsMax = 32;

/**
 * Returns the rightmost address that is not a trusted proxy's. Anything to the left of it, or of an entry that is not
 * an address, may be forged. Empty when the socket is closed.
 */
export function callerIp({ headers, socket }: Asking, trustedProxies: AddressSet): string {
  const forwardedFor = headers["x-forwarded-for"];
  let address = plainAddress(socket.remoteAddress ?? "") ?? "";
  if (trustedProxies.size === 0 || forwardedFor === undefined || address === "") return address;
  const hops = String(forwardedFor).split(",").slice(-hopsMax);
  for (let hop = hops.pop(); hop !== undefined; hop = hops.pop()) {
    if (!trustedProxies.has(address)) return address;
    const before = plainAddress(withoutPort(hop.trim()));
    if (before === undefined) return address;
    address = before;
  }
  return address;
}

/** Returns the address without a zone, and IPv4 as IPv4: `::ffff:10.0.0.1` is `10.0.0.1`. Undefined for a text that is not an address. */
function plainAddress(text: string): string | undefined {
  const zone = text.indexOf("%");
  const address = zone < 0 ? text : text.slice(0, zone);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? undefined : mapped;
}

/** Some proxies write `1.2.3.4:5678` and `[::1]:5678`. */
const withoutPort = (text: string): string =>
  /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ??
  /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)?.[1] ??
  text;
