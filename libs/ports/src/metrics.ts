/**
 * What a process counts about itself: plain numbers that cost an addition, and nothing when nobody reads them. The
 * catalogue is all there is: names, units, labels and their values. No label ever holds what a caller has sent.
 */

/** Who has it; `standalone` does all of their work in one process. */
export type Reporter =
  | "gateway"
  | "scheduler"
  | "deliverer"
  | "callback-dispatcher"
  | "workflow-log"
  | "management"
  | "standalone";

type Label = { readonly name: string; readonly values: readonly string[] };
type Common = { readonly help: string; readonly by: readonly Reporter[] };
export type Metric =
  /** Only grows while the process lives. */
  | (Common & { readonly kind: "counter"; readonly label: Label })
  /** `buckets`: upper bounds, rising; what is above the last one counts as +Inf. */
  | (Common & { readonly kind: "histogram"; readonly buckets: readonly number[] })
  /** Asked for when somebody looks. `grows`: it is a counter that someone else keeps. */
  | (Common & { readonly kind: "watched"; readonly grows: boolean; readonly label?: Label });

const everyone: readonly Reporter[] = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
  "standalone",
];
const onTheBus: readonly Reporter[] = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
];
const writers: readonly Reporter[] = [...onTheBus, "standalone"];

export const metricCatalogue = {
  posthaste_messages_accepted_total: {
    kind: "counter",
    help: "Messages that a publish has answered for: new ones, and duplicates of one that was there.",
    label: { name: "result", values: ["new", "duplicate"] },
    by: ["gateway", "standalone"],
  },
  posthaste_attempts_total: {
    kind: "counter",
    help: "Attempts that have ended. refused: an answer that is not 2xx; unreachable: none came; infrastructure: we could not try; aborted: we cut it short.",
    label: {
      name: "outcome",
      values: ["delivered", "refused", "unreachable", "infrastructure", "aborted"],
    },
    by: ["deliverer", "standalone"],
  },
  posthaste_delivery_latency_seconds: {
    kind: "histogram",
    help: "From when a message was to be delivered (its publish, or the end of its delay) to the end of the attempt that did it, retries included.",
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3600],
    by: ["deliverer", "standalone"],
  },
  posthaste_attempts_running: {
    kind: "watched",
    grows: false,
    help: "Attempts that run in this process now.",
    by: ["deliverer", "standalone"],
  },
  posthaste_timer_lateness_seconds: {
    kind: "histogram",
    help: "How late alarms are looked at: from the earliest that was due to the round that rings it.",
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    by: ["scheduler", "standalone"],
  },
  posthaste_oldest_past_due_seconds: {
    kind: "watched",
    grows: false,
    help: "Age of the oldest alarm of this scheduler's shards that is due and has not been rung; 0: none is.",
    by: ["scheduler", "standalone"],
  },
  posthaste_lane_depth: {
    kind: "watched",
    grows: false,
    help: "Messages that wait in lanes, of all shards, counted up to 100000. Each scheduler tells the same: take the maximum.",
    by: ["scheduler", "standalone"],
  },
  posthaste_callbacks_total: {
    kind: "counter",
    help: "Callbacks and failure callbacks made as messages. The scheduler makes those that were postponed.",
    label: { name: "kind", values: ["callback", "failureCallback"] },
    by: ["callback-dispatcher", "scheduler", "deliverer", "standalone"],
  },
  posthaste_dead_letters: {
    kind: "watched",
    grows: false,
    help: "Dead letters that are kept, of all tenants, counted up to 100000. Each workflow-log tells the same: take the maximum.",
    by: ["workflow-log", "standalone"],
  },
  posthaste_commit_writes: {
    kind: "histogram",
    help: "Writes that one commit of the store took together: of SQLite any; of MongoDB inserts and settles.",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    by: writers,
  },
  posthaste_commit_seconds: {
    kind: "histogram",
    help: "How long such a commit took until it was durable.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    by: writers,
  },
  posthaste_bus_total: {
    kind: "watched",
    grows: true,
    help: "What the Kafka client has done. events: acknowledged by the brokers; heard: taken by handlers; pauses: of partitions, since too much was in hand.",
    label: {
      name: "what",
      values: [
        "sends",
        "sendFailures",
        "events",
        "hintsDropped",
        "refused",
        "heard",
        "handlerFailures",
        "pauses",
        "parked",
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
    help: "Script calls to Redis; failed: not answered, or not in time; refused: not made, since Redis was away.",
    label: { name: "what", values: ["calls", "failed", "refused"] },
    by: ["gateway", "scheduler", "deliverer"],
  },
  posthaste_store_calls_total: {
    kind: "watched",
    grows: true,
    help: "Calls to the server of the documents, repeated ones included.",
    by: [...onTheBus, "management"],
  },
  posthaste_event_loop_delay_seconds: {
    kind: "watched",
    grows: false,
    help: "Delay of the event loop since it was last looked at; quantile 1 is the worst.",
    label: { name: "quantile", values: ["0.5", "0.99", "1"] },
    by: everyone,
  },
  process_cpu_seconds_total: {
    kind: "watched",
    grows: true,
    help: "CPU time of this process, all threads.",
    label: { name: "mode", values: ["user", "system"] },
    by: everyone,
  },
  process_resident_memory_bytes: {
    kind: "watched",
    grows: false,
    help: "Resident memory of this process.",
    by: everyone,
  },
} as const satisfies Readonly<Record<string, Metric>>;

type Catalogue = typeof metricCatalogue;
export type MetricName = keyof Catalogue;
type NamesOf<Kind extends Metric["kind"]> = {
  [Name in MetricName]: Catalogue[Name] extends { readonly kind: Kind } ? Name : never;
}[MetricName];
type CounterName = NamesOf<"counter">;
export type HistogramName = NamesOf<"histogram">;
export type WatchedName = NamesOf<"watched">;
type LabelOf<Name extends CounterName> = Catalogue[Name]["label"]["values"][number];

/** A number; by label value where the metric has one; undefined while it is not known. */
export type Reading = number | Readonly<Record<string, number>> | undefined;

export interface Metrics {
  count<Name extends CounterName>(name: Name, label: LabelOf<Name>, by?: number): void;
  /** In the unit that ends the metric's name. */
  observe(name: HistogramName, value: number): void;
  /** `read` is called when somebody looks, seldom more than every five seconds. */
  watch(name: WatchedName, read: () => Reading | Promise<Reading>): void;
}

const nothing = (): void => undefined;
export const noMetrics: Metrics = { count: nothing, observe: nothing, watch: nothing };

/** How far what is watched is counted in a store, where counting is looking at each. */
export const countedMax = 100_000;
