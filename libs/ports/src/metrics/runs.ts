/** Metrics of workflow runs: starts, ends, accepted entries, and standstills. */
import { type Metric, type Reporter } from "./metric.ts";

const changers: readonly Reporter[] = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "standalone",
];

export const runsMetrics = {
  posthaste_runs_total: {
    kind: "counter",
    help: "Runs that this process has started, resumed or ended, by event.",
    label: { name: "event", values: ["started", "succeeded", "failed", "canceled"] },
    by: changers,
  },
  posthaste_run_entries_total: {
    kind: "counter",
    help: "Parts that runs have accepted: plans and results of steps, calls to third parties and their answers, waits for events, and invocations of other runs.",
    label: {
      name: "role",
      values: ["plan", "result", "call", "answer", "wait", "invocation"],
    },
    by: changers,
  },
  posthaste_run_delivery_wait_seconds: {
    kind: "histogram",
    help: "Time from when a delivery of a run was to be made (its part was accepted, or its sleep is over) to its first attempt.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    by: ["deliverer", "standalone"],
  },
  posthaste_run_stalls_total: {
    kind: "counter",
    help: "Deliveries of runs that were answered with 2xx and have caused nothing half a minute to a minute later: their runs stand still. A deliverer checks 1000 of its deliveries each half minute.",
    label: { name: "role", values: ["start", "plan", "result", "answer"] },
    by: ["deliverer", "standalone"],
  },
  posthaste_runs_active: {
    kind: "watched",
    grows: false,
    help: "Active runs of all tenants, counted up to 100000. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
  posthaste_runs_waiting: {
    kind: "watched",
    grows: false,
    help: "Active runs of all tenants that wait for an event, counted up to 100000. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
  posthaste_run_oldest_past_due_seconds: {
    kind: "watched",
    grows: false,
    help: "Age of the oldest due alarm of a run that has not rung: for a wait that is over, a run to be started, the end of an invoked run to be reported, or a delivery to be inserted; 0: there is none. Each scheduler reports the same value: take the maximum.",
    by: ["scheduler", "standalone"],
  },
} as const satisfies Readonly<Record<string, Metric>>;
