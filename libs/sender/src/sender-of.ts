/** The sender of a process, as it is configured. */
import { type DestinationPolicy } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type CountingSender, createSender } from "./sender.ts";

type SenderConfig = { readonly maxInFlight: number; readonly maxPerOrigin: number };

const originsMax = 1_000;

export function senderOf(
  config: SenderConfig,
  policy: DestinationPolicy,
  clock: Clock,
): CountingSender {
  return createSender({
    policy,
    // Long calls have a pool of their own, so an origin may see twice its share of connections.
    connectionsPerOriginMax: config.maxPerOrigin + config.maxInFlight,
    originsMax,
    // Deadlines are lengths of time, whatever somebody does to the wall clock.
    clock: { ...clock, now: () => performance.now() },
  });
}
