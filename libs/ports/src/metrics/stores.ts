import { type Metric, onTheBus, writers } from "./metric.ts";

export const storesMetrics = {
  posthaste_commit_writes: {
    kind: "histogram",
    help: "Writes in one commit of the store: of SQLite all kinds; of MongoDB inserts and settles.",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    by: writers,
  },
  posthaste_commit_seconds: {
    kind: "histogram",
    help: "Time until a commit of the store was durable.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    by: writers,
  },
  posthaste_bus_total: {
    kind: "watched",
    grows: true,
    help: "Counts of the Kafka client. events: acknowledged by the brokers; messages: Kafka messages that carried them, with one or many events in each; heard: taken by handlers; pauses: of partitions, because too many events were being handled; placesLost: facts that Kafka has removed before they were received.",
    label: {
      name: "what",
      values: [
        "sends",
        "sendFailures",
        "events",
        "messages",
        "hintsDropped",
        "refused",
        "heard",
        "handlerFailures",
        "pauses",
        "parked",
        "placesLost",
        "commits",
        "rebalances",
        "consumerRestarts",
      ],
    },
    by: onTheBus,
  },
  posthaste_tokens_total: {
    kind: "watched",
    grows: true,
    help: "Script calls to Redis. failed: not answered, or not in time; refused: not made, because Redis was away.",
    label: { name: "what", values: ["calls", "failed", "refused"] },
    by: ["gateway", "scheduler", "deliverer"],
  },
  posthaste_store_calls_total: {
    kind: "watched",
    grows: true,
    help: "Calls to MongoDB, repeated ones included.",
    by: [...onTheBus, "management"],
  },
} as const satisfies Readonly<Record<string, Metric>>;
