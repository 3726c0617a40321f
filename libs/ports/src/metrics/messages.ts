import { type Metric } from "./metric.ts";

export const messagesMetrics = {
  posthaste_messages_accepted_total: {
    kind: "counter",
    help: "Messages that a publish was answered for: new ones, and duplicates of earlier ones.",
    label: { name: "result", values: ["new", "duplicate"] },
    by: ["gateway", "standalone"],
  },
  posthaste_attempts_total: {
    kind: "counter",
    help: "Attempts that have ended. refused: an answer that is not 2xx; unreachable: no answer; infrastructure: the deliverer could not try; aborted: the deliverer cut the attempt short.",
    label: {
      name: "outcome",
      values: ["delivered", "refused", "unreachable", "infrastructure", "aborted"],
    },
    by: ["deliverer", "standalone"],
  },
  posthaste_messages_ended_total: {
    kind: "counter",
    help: "Messages whose last attempt has ended: delivered, or failed with no retry left, which leaves a dead letter.",
    label: { name: "end", values: ["delivered", "failed"] },
    by: ["deliverer", "standalone"],
  },
  posthaste_delivery_latency_seconds: {
    kind: "histogram",
    help: "Time from the due time of a message (its publish, or the end of its delay) to the end of the attempt that delivered it, retries included.",
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3600],
    by: ["deliverer", "standalone"],
  },
  posthaste_log_left_total: {
    kind: "watched",
    grows: true,
    help: "Deliveries whose row in the log this deliverer has left to the removal of their records, half a minute later: the log was away for long, or too many rows waited for it.",
    by: ["deliverer"],
  },
  posthaste_turns_given_total: {
    kind: "counter",
    help: "Turns that queues have given. now: the message is due; later: the message waits for its time, or for a slot of its flow key.",
    label: { name: "due", values: ["now", "later"] },
    by: ["scheduler", "deliverer", "standalone"],
  },
  posthaste_attempts_running: {
    kind: "watched",
    grows: false,
    help: "Attempts running in this process.",
    by: ["deliverer", "standalone"],
  },
  posthaste_attempts_waiting: {
    kind: "watched",
    grows: false,
    help: "Due messages that wait in this deliverer for a slot, at most 50000. 0 while a slot is free: messages that wait then are held back by a limit of their flow key, destination or tenant.",
    by: ["deliverer", "standalone"],
  },
  posthaste_attempts_body_bytes: {
    kind: "watched",
    grows: false,
    help: "Bytes of bodies that attempts hold in memory. Bodies of up to 32 KiB are not counted.",
    by: ["deliverer", "standalone"],
  },
  posthaste_attempts_answer_bytes: {
    kind: "watched",
    grows: false,
    help: "Bytes of answers that attempts hold in memory. The first 16 KiB of each are not counted.",
    by: ["deliverer", "standalone"],
  },
  posthaste_ssrf_blocked_late_total: {
    kind: "watched",
    grows: true,
    help: "Connections to a forbidden address that only the check after connecting found. Must stay 0: alert on any other value.",
    by: ["deliverer", "standalone"],
  },
} as const satisfies Readonly<Record<string, Metric>>;
