/** Decides which ports a destination may have (docs/design/delivery#destinations). */
import { type DestinationPolicy } from "./policy.ts";

export function isPortAllowed(port: number, policy: DestinationPolicy): boolean {
  if (port < 1 || port > 65_535) return false;
  if (policy.anyPort || port === 80 || port === 443) return true;
  return port >= firstFreePort && !infrastructurePorts.has(port);
}

/** Ports below this belong to well-known services. */
const firstFreePort = 1024;

/** Databases, brokers, caches and orchestrators: they obey every request that reaches them, and an HTTP body can be a command. */
const infrastructurePorts: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2377, 2378, 2379, 2380, 3306, 4369, 5432, 5601, 5672, 5984,
  6000, 6379, 6443, 7001, 8086, 8500, 8529, 9042, 9092, 9200, 9300, 10_250, 10_255, 11_211, 15_672,
  27_017, 27_018, 27_019, 50_070,
]);
