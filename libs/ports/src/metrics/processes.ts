import { everyone, type Metric } from "./metric.ts";

export const processesMetrics = {
  posthaste_event_loop_delay_seconds: {
    kind: "watched",
    grows: false,
    help: "Delay of the event loop since it was last looked at; percentile 100 is the worst.",
    label: { name: "percentile", values: ["50", "99", "100"] },
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
