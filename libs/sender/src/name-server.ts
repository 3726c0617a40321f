/** DNS through c-ares: `dns.lookup` would share four threads with the file system, and a black-holed name would block it. */
import { Resolver } from "node:dns/promises";

export type AddressRecord = { readonly address: string; readonly ttl: number };

/** Asks the resolvers of this host. Each question rejects within two seconds, with c-ares' codes (`ENOTFOUND`, …). */
export interface NameServer {
  resolve4(name: string): Promise<readonly AddressRecord[]>;
  resolve6(name: string): Promise<readonly AddressRecord[]>;
  /** Resolves when the resolver answers a question unrelated to any destination. */
  probe(): Promise<unknown>;
  /** Reads the host's resolver settings again. */
  renew(): void;
}

/** Uses `servers` (`ip` or `ip:port`) instead of those in the host's settings. */
export function createNameServer(servers?: readonly string[]): NameServer {
  const open = (): Resolver => {
    const resolver = new Resolver(timing);
    if (servers !== undefined) resolver.setServers(servers);
    return resolver;
  };
  let resolver = open();
  return {
    resolve4: (name) => resolver.resolve4(name, { ttl: true }),
    resolve6: (name) => resolver.resolve6(name, { ttl: true }),
    probe: () => resolver.resolveNs("."),
    renew: () => {
      resolver = open();
    },
  };
}

/** Two tries of a second: one lost packet is not a failure. */
const timing = { timeout: 1_000, tries: 2, maxTimeout: 1_000 };
