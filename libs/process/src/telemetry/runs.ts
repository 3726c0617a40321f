/** The metrics of runs. */
import { elapsedMs, partKeyOf, type Run } from "@posthaste/domain";
import {
  type Clock,
  countedMax,
  type Metrics,
  noMetrics,
  type RunStore,
  type RunWrite,
  type Sizes,
} from "@posthaste/ports";

/** Returns a store of runs that counts the changes written through it. Without a reader of metrics it is `runs` itself. */
export function meteredRuns(runs: RunStore, metrics: Metrics): RunStore {
  if (metrics === noMetrics) return runs;
  return {
    ...runs,
    start: async (tenant, id, intake, make) => {
      const started = await runs.start(tenant, id, intake, make);
      if (started.kind === "started") metrics.count("posthaste_runs_total", "started");
      return started;
    },
    resume: async (tenant, id, inherited, make) => {
      const started = await runs.resume(tenant, id, inherited, make);
      if (started !== "gone" && started.kind === "started")
        metrics.count("posthaste_runs_total", "started");
      return started;
    },
    change: async (address, decide) => {
      // A change may be decided again, and the last decision is written.
      let made: { readonly from: Run; readonly write: RunWrite | undefined } | undefined;
      const verdict = await runs.change(address, (from) => {
        const decision = decide(from);
        made = { from, write: decision.write };
        return decision;
      });
      if (made?.write) countWrite(metrics, made.from, made.write);
      return verdict;
    },
  };
}

export function watchRuns(metrics: Metrics, sizes: Sizes, clock: Pick<Clock, "now">): void {
  metrics.watch("posthaste_runs_active", () => sizes.activeRuns(countedMax));
  metrics.watch("posthaste_runs_waiting", () => sizes.waitingRuns(countedMax));
  metrics.watch("posthaste_run_oldest_past_due_seconds", async () => {
    const alarm = await sizes.runAlarm();
    return elapsedMs(alarm ?? Infinity, Infinity, clock.now()) / 1_000;
  });
}

function countWrite(metrics: Metrics, from: Run, { parts, run }: RunWrite): void {
  const { kind } = run.state;
  if (from.state.kind === "active" && kind !== "active")
    metrics.count("posthaste_runs_total", kind);
  for (const { name } of parts) {
    const key = partKeyOf(name);
    const role = roles.find((each) => each === key?.role);
    if (role) metrics.count("posthaste_run_entries_total", role);
  }
}

/** The roles of parts that are entries, or that a step waits for. */
const roles = ["plan", "result", "call", "answer", "wait", "invocation"] as const;
