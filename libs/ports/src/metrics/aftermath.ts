import { type Metric } from "./metric.ts";

export const aftermathMetrics = {
  posthaste_callbacks_total: {
    kind: "counter",
    help: "Callbacks and failure callbacks made as messages. The scheduler makes the postponed ones.",
    label: { name: "kind", values: ["callback", "failureCallback"] },
    by: ["callback-dispatcher", "scheduler", "deliverer", "standalone"],
  },
  posthaste_dead_letters: {
    kind: "watched",
    grows: false,
    help: "Kept dead letters of all tenants, counted up to 100000. Each workflow-log reports the same value: take the maximum.",
    by: ["workflow-log", "standalone"],
  },
} as const satisfies Readonly<Record<string, Metric>>;
