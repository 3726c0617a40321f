/** Node's readings of this process: the delay of its event loop, its CPU time and its memory. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Metrics } from "@posthaste/ports";

const everyMs = 20;
const nanosecondsPerSecond = 1e9;
const microsecondsPerSecond = 1e6;

/** Returns the function that ends the watch. Node's histogram ticks until then, so the watch begins only where it is read. */
export function watchProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: everyMs });
  delay.enable();
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
  return () => delay.disable();
}
