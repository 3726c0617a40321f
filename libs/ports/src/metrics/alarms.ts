/** Metrics of messages that wait for a time or a turn, and of the alarms that end the wait. */
import { allShards } from "@posthaste/domain";
import { type Metric } from "./metric.ts";

export const alarmsMetrics = {
  posthaste_roster_age_seconds: {
    kind: "watched",
    grows: false,
    help: "Age of the list of deliverers that this gateway has read. After three seconds the gateway names no deliverer, and messages wait for a claim. 0 while the gateway inserts nothing and reads nothing.",
    by: ["gateway"],
  },
  posthaste_named_hints_total: {
    kind: "counter",
    help: "Messages claimed for a deliverer by their insert, as deliverers received them. taken: by the named deliverer, in time; late: the lease was over, or near its end; foreign: another deliverer is named; again: received before.",
    label: { name: "heard", values: ["taken", "late", "foreign", "again", "handedBack"] },
    by: ["deliverer"],
  },
  posthaste_timer_lateness_seconds: {
    kind: "histogram",
    help: "How late alarms ring: from the due time of the earliest to the round that rings it.",
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    by: ["scheduler", "standalone"],
  },
  posthaste_schedule_slots_total: {
    kind: "counter",
    help: "Slots of schedules: fired, failed (the schedule says why), or skipped because they were too late.",
    label: { name: "result", values: ["fired", "failed", "skipped"] },
    by: ["scheduler", "deliverer", "standalone"],
  },
  posthaste_schedule_lateness_seconds: {
    kind: "histogram",
    help: "How late slots of schedules fire.",
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600],
    by: ["scheduler", "deliverer", "standalone"],
  },
  posthaste_oldest_past_due_seconds: {
    kind: "watched",
    grows: false,
    help: "Age of the oldest due alarm of this scheduler's shards that has not rung; 0: there is none.",
    by: ["scheduler", "standalone"],
  },
  posthaste_shard_owners: {
    kind: "watched",
    grows: false,
    help: "1 for each shard whose alarms this scheduler rings. Summed by shard, 0 or no line is a shard without an owner.",
    label: { name: "shard", values: allShards.map(String) },
    by: ["scheduler", "standalone"],
  },
  posthaste_queue_depth: {
    kind: "watched",
    grows: false,
    help: "Messages of all tenants that wait for their turn in queues, counted up to 100000. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
  posthaste_queue_oldest_turn_seconds: {
    kind: "watched",
    grows: false,
    help: "Age of the oldest turn of a queue that is not paused, searched in 100000 turns (MongoDB: in 10000 queues); 0: there is none. A message keeps its turn while it or a callback of it is retried. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
  posthaste_bulk_cancelled_total: {
    kind: "counter",
    help: "Messages and runs that bulk actions have cancelled. caller: while the caller waited; later: by a scheduler.",
    label: { name: "worked", values: ["caller", "later"] },
    by: ["gateway", "scheduler", "standalone"],
  },
  posthaste_lane_depth: {
    kind: "watched",
    grows: false,
    help: "Messages that wait in lanes of all shards, counted up to 100000. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
} as const satisfies Readonly<Record<string, Metric>>;
