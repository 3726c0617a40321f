/**
 * The families of addresses that this host can call from. A connect without a local address of the family fails with
 * the same code as a connect for which all ports are taken: the first is caused by the destination's name, the second
 * is our failure.
 */
import { isIPv6 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { classify, parseAddress } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

/** Asking the system takes about as long as a connect. */
const lookEveryMs = 1_000;

export class LocalFamilies {
  readonly #clock: Pick<Clock, "passedMs">;
  readonly #interfaces: typeof networkInterfaces;
  #lookedAt = -Infinity;
  #addresses: readonly NetworkInterfaceInfo[] = [];

  constructor(clock: Pick<Clock, "passedMs">, interfaces = networkInterfaces) {
    this.#clock = clock;
    this.#interfaces = interfaces;
  }

  /** Reports whether this host has an address to call from: for loopback a local address, otherwise one that leads out. */
  reach(address: string): boolean {
    const family = isIPv6(address) ? "IPv6" : "IPv4";
    const isLocal = classOf(address) === "loopback";
    return this.#look().some(
      (own) =>
        own.family === family &&
        (isLocal ? own.internal : !own.internal && classOf(own.address) !== "link_local"),
    );
  }

  #look(): readonly NetworkInterfaceInfo[] {
    const now = this.#clock.passedMs();
    if (now - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = now;
      this.#addresses = Object.values(this.#interfaces()).flatMap((own) => own ?? []);
    }
    return this.#addresses;
  }
}

function classOf(address: string): string | undefined {
  const parsed = parseAddress(address);
  return parsed && classify(parsed);
}
