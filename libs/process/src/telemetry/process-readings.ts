/** Node's readings of this process: its version, start, event loop, CPU time, memory and open files. */
import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { type Clock, type Metrics } from "@posthaste/ports";
import { openFilesMax } from "../lifecycle/open-files.ts";
import { version } from "../version.ts";

const everyMs = 20;
const nanosecondsPerSecond = 1e9;
const microsecondsPerSecond = 1e6;

/** Returns the function that ends the watch. Node's histogram ticks until then, so the watch begins only when it is read. */
export function watchProcess(metrics: Metrics, clock: Pick<Clock, "now">): () => void {
  const startedAt = clock.now() / 1_000 - process.uptime();
  const filesMax = openFilesMax();
  const delay = monitorEventLoopDelay({ resolution: everyMs });
  delay.enable();
  metrics.watch("posthaste_build_info", () => ({ [version]: 1 }));
  metrics.watch("process_start_time_seconds", () => startedAt);
  metrics.watch("posthaste_event_loop_delay_seconds", () => {
    // The histogram holds whole intervals; time above one of them was the delay.
    const beyond = (ns: number) => Math.max(0, ns / nanosecondsPerSecond - everyMs / 1_000) || 0;
    const reading = {
      "50": beyond(delay.percentile(50)),
      "99": beyond(delay.percentile(99)),
      "100": beyond(delay.max),
    };
    delay.reset();
    return reading;
  });
  metrics.watch("process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return { user: user / microsecondsPerSecond, system: system / microsecondsPerSecond };
  });
  metrics.watch("process_resident_memory_bytes", () => process.memoryUsage.rss());
  metrics.watch("posthaste_heap_bytes", () => {
    const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
    return { used, limit };
  });
  metrics.watch("process_open_fds", async () => (await readdir("/proc/self/fd")).length);
  metrics.watch("process_max_fds", () => filesMax);
  return () => delay.disable();
}
