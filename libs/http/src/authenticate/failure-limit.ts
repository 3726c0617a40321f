/**
 * Counts failed authentications per network: /24 of IPv4, /64 of IPv6, since one attacker has that much. After ten in
 * a minute the network must wait, each time twice as long (docs/design/security#authentication).
 */
import { isIPv6 } from "node:net";
import { RoundRobin } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

export type FailureLimit = {
  /** Returns the seconds for which this address must wait, or undefined when it may try. */
  blockedSeconds(address: string): number | undefined;
  /** Counts one more failure, and returns the new result of `blockedSeconds`. */
  failed(address: string): number | undefined;
};

/** `blocks` counts the times in a row that the network had to wait. */
type Failures = {
  readonly count: number;
  readonly windowEndsAt: number;
  readonly blocks: number;
  readonly blockedUntil: number;
};

const failuresMax = 10;
const windowMs = 60_000;
const firstBlockMs = 1_000;
const blockMsMax = 900_000;
const networksMax = 10_000;

/** Returns the failures after one more. Forgives a network that has been quiet for a whole window. Pure. */
function afterFailure(before: Failures | undefined, passedMs: number): Failures {
  if (!before || passedMs >= Math.max(before.windowEndsAt, before.blockedUntil + windowMs)) {
    return { count: 1, windowEndsAt: passedMs + windowMs, blocks: 0, blockedUntil: 0 };
  }
  if (passedMs < before.blockedUntil) return before;
  const count = before.count + 1;
  if (count <= failuresMax) return { ...before, count };
  const blockMs = Math.min(blockMsMax, firstBlockMs * 2 ** before.blocks);
  return { ...before, count, blocks: before.blocks + 1, blockedUntil: passedMs + blockMs };
}

export function createFailureLimit(clock: Clock): FailureLimit {
  const networks = new RoundRobin<string, Failures>();

  function blockedSeconds(address: string): number | undefined {
    const blockedMs = (networks.get(networkOf(address))?.blockedUntil ?? 0) - clock.passedMs();
    return blockedMs > 0 ? Math.ceil(blockedMs / 1_000) : undefined;
  }

  return {
    blockedSeconds,
    failed: (address) => {
      const network = networkOf(address);
      const failures = afterFailure(networks.get(network), clock.passedMs());
      networks.put(network, failures);
      // The first entry has been quiet for longest.
      if (networks.size > networksMax) networks.take();
      return blockedSeconds(address);
    },
  };
}

/** Returns `1.2.3` or the first four groups of an IPv6 address. All other addresses share one network. */
export function networkOf(address: string): string {
  if (isIPv6(address)) return firstGroups(address);
  const end = address.lastIndexOf(".");
  return end < 0 ? "" : address.slice(0, end);
}

function firstGroups(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  return [...groups, ...Array<string>(zeros).fill("0"), ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
