import { expect, it } from "@jest/globals";
import { type Run } from "@posthaste/domain";
import { type Metrics, noMetrics, type RunStore } from "@posthaste/ports";
import {
  aPlan,
  aResult,
  aRunId,
  aRunStart,
  aTenant,
  ending,
  epochStart as now,
  joining,
} from "@posthaste/testing";
import { meteredRuns } from "./runs.ts";

const address = { tenant: aTenant, id: aRunId };

/** Returns a store of one run. Each change is decided twice, as when another process comes first. */
function aStore(): RunStore {
  let run: Run | undefined;
  const unused = () => Promise.reject(new Error("it is not asked for"));
  return {
    ...{ get: unused, byRoot: unused, byAlias: unused, waiting: unused, part: unused },
    ...{ history: unused, brief: unused, sweep: unused, resume: unused },
    start: async (_tenant, _id, _intake, make) => {
      if (run) return { kind: "known", run };
      ({ run } = make({ generation: 1, after: 0 }));
      return { kind: "started", run };
    },
    change: async (_address, decide) => {
      if (!run) return undefined;
      decide(run);
      const { verdict, write } = decide(run);
      run = write?.run ?? run;
      return verdict;
    },
  };
}

it("each part written for a run is counted once, and existing parts are not counted", async () => {
  const counted: string[] = [];
  const count: Metrics["count"] = (name, label) => void counted.push(`${name} ${label}`);
  const runs = meteredRuns(aStore(), { ...noMetrics, count });

  for (let i = 0; i < 2; i++)
    await runs.start(aTenant, aRunId, "new", (use) => aRunStart(use, { now }));
  for (const steps of [[aPlan(1), aPlan(2)], [aResult(1)], [aResult(1)]])
    await runs.change(address, (run) => joining(run, steps, now));
  for (let i = 0; i < 2; i++) await runs.change(address, (run) => ending(run, now));

  expect(counted).toEqual([
    "posthaste_runs_total started",
    "posthaste_run_entries_total plan",
    "posthaste_run_entries_total plan",
    "posthaste_run_entries_total result",
    "posthaste_runs_total canceled",
  ]);
});

it("the store is not wrapped if nothing reads the metrics", () => {
  const runs = aStore();

  expect(meteredRuns(runs, noMetrics)).toBe(runs);
});
