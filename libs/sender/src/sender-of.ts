/** The sender of a process, as it is configured. */
import { type DestinationPolicy, limits } from "@posthaste/domain";
import { type Clock, type Metrics } from "@posthaste/ports";
import { type CountingSender, createSender } from "./sender.ts";

type SenderConfig = { readonly maxInFlight: number; readonly maxWaiting: number };

type SenderParts = {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** What the system lets this process have, with a call and without. */
  readonly connectionsMax: number;
};

const originsMax = 1_000;
const idleConnectionsMax = 1_000;
const answerBytesMax = 64 * 1024 * 1024;

export function senderOf(
  config: SenderConfig,
  policy: DestinationPolicy,
  parts: SenderParts,
): CountingSender {
  const { clock, connectionsMax, metrics } = parts;
  const sender = createSender({
    policy,
    // The deliverer bounds them, by its own spelling of origins: all its calls, with those that are made alone, fit.
    connectionsPerOriginMax: config.maxInFlight + config.maxWaiting + limits.isolatedMax,
    originsMax,
    idleConnectionsMax: Math.min(idleConnectionsMax, connectionsMax),
    connectionsMax,
    answerBytesMax,
    clock,
  });
  metrics.watch("posthaste_ssrf_blocked_late_total", () => sender.counts.ssrfBlockedLate);
  metrics.watch("posthaste_attempts_answer_bytes", sender.answerBytes);
  return sender;
}
