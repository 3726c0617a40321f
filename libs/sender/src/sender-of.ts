/** Makes the sender of a process from its configuration. */
import { type DestinationPolicy, limits } from "@posthaste/domain";
import { type Clock, type Metrics } from "@posthaste/ports";
import { type CountingSender, createSender } from "./sender.ts";

type SenderConfig = { readonly maxInFlight: number; readonly maxWaiting: number };

type SenderParts = {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The connections that the system allows this process, with and without a call. */
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
    // The deliverer bounds calls by its own spelling of origins. All its calls fit, including isolated ones.
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
