import { expect, it } from "@jest/globals";
import { type InRun, type Run, runId } from "@posthaste/domain";
import { type Metrics, noMetrics } from "@posthaste/ports";
import { aResult, aRunStart, aTenant, joining } from "@posthaste/testing";
import { open } from "../opened.fixture.ts";
import { StandingRuns } from "./standing-runs.ts";

const halfMinuteMs = 30_000;

function watched() {
  const counted: string[] = [];
  const count: Metrics["count"] = (name, label) => void counted.push(`${name} ${label}`);
  return { counted, metrics: { ...noMetrics, count } };
}

const delivery = ({ bytes, createdAt, id, key, root }: Run, part: string): InRun => ({
  ...{ bytes, createdAt, id, key, root, part },
});

it("a run whose endpoint has answered and published nothing is counted once, and a run that goes on is not", async () => {
  const ports = open();
  const { clock, runs } = ports;
  const { counted, metrics } = watched();
  const standing = new StandingRuns(ports, metrics);
  const started: Run[] = [];
  for (const id of [runId("still"), runId("on")]) {
    const { run } = await runs.start(aTenant, id, "new", (use) =>
      aRunStart(use, { id, now: clock.now() }),
    );
    started.push(run);
    standing.answered(delivery(run, "start"));
  }
  const [, on] = started;
  await clock.advance(halfMinuteMs);
  expect(counted).toEqual([]);
  if (on) await runs.change(on, (run) => joining(run, [aResult(1)], clock.now()));

  for (let i = 0; i < 4; i++) await clock.advance(halfMinuteMs);

  expect(counted).toEqual(["posthaste_run_stalls_total start"]);
});

it("where no metrics are read, no run is", async () => {
  const ports = open();
  const looked: unknown[] = [];
  const get: typeof ports.runs.get = (address) => {
    looked.push(address);
    return ports.runs.get(address);
  };
  const standing = new StandingRuns({ ...ports, runs: { get } }, noMetrics);
  const id = runId("run");
  const { run } = await ports.runs.start(aTenant, id, "new", (use) =>
    aRunStart(use, { id, now: ports.clock.now() }),
  );

  standing.answered(delivery(run, "start"));
  for (let i = 0; i < 4; i++) await ports.clock.advance(halfMinuteMs);

  expect(looked).toEqual([]);
});
