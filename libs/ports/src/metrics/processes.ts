import { allProcesses, type Metric } from "./metric.ts";

export const processesMetrics = {
  posthaste_build_info: {
    kind: "watched",
    grows: false,
    help: "Always 1; the label is the version of this process.",
    label: { name: "version", values: [] },
    by: allProcesses,
  },
  process_start_time_seconds: {
    kind: "watched",
    grows: false,
    help: "When this process started, in Unix seconds.",
    by: allProcesses,
  },
  posthaste_event_loop_delay_seconds: {
    kind: "watched",
    grows: false,
    help: "Delay of the event loop since the last reading; percentile 100 is the worst.",
    label: { name: "percentile", values: ["50", "99", "100"] },
    by: allProcesses,
  },
  process_cpu_seconds_total: {
    kind: "watched",
    grows: true,
    help: "CPU time of this process, all threads.",
    label: { name: "mode", values: ["user", "system"] },
    by: allProcesses,
  },
  process_resident_memory_bytes: {
    kind: "watched",
    grows: false,
    help: "Resident memory of this process.",
    by: allProcesses,
  },
  posthaste_heap_bytes: {
    kind: "watched",
    grows: false,
    help: "Memory of JavaScript: the used part, and the limit at which the process would end.",
    label: { name: "what", values: ["used", "limit"] },
    by: allProcesses,
  },
  process_open_fds: {
    kind: "watched",
    grows: false,
    help: "Open files and sockets of this process, on Linux.",
    by: allProcesses,
  },
  process_max_fds: {
    kind: "watched",
    grows: false,
    help: "Files and sockets that this process may have open, on Linux.",
    by: allProcesses,
  },
} as const satisfies Readonly<Record<string, Metric>>;
