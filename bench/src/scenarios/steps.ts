/** Measures runs of trivial steps: the time of one step, and the rate with twenty runs at a time. */
import { RestateRuns } from "../load/restate-runs.ts";
import { RunEndpoint } from "../load/run-endpoint.ts";
import { atMost, atLeast } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { startOrchestrator } from "../systems/peers.ts";
import { startRestate } from "../systems/restate.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const stepsOfRun = 3;
const oneByOne = 200;
const atOnce = 20;
const forMs = 3_000;
const longSteps = 2_000;
/** The length of the run that the long run's steps are compared with. */
const firstSteps = 100;

export const steps: Scenario = {
  name: "steps",
  title: "Workflow runs of trivial steps",
  budgetMs: 120_000,
  run,
};

type Measured = {
  readonly msPerStep: number[];
  readonly runsPerSecond: number[];
  readonly cpuMsPerRun: number[];
};
const nothing = (): Measured => ({ msPerStep: [], runsPerSecond: [], cpuMsPerRun: [] });

/** Starts runs of `stepsOfRun` steps, and sees their end. */
type Runs = { run(): Promise<void>; stop(): Promise<void> };

async function run(stage: Stage): Promise<Findings> {
  const ours = await stage.start(...posthaste);
  const bare = await stage.start("bare orchestrator", startOrchestrator);
  if (ours === undefined || bare === undefined) return { blocks: ["Not measured."] };
  const restate = await stage.start("Restate", startRestate);
  const measured = { ours: nothing(), bare: nothing(), restate: nothing() };
  const rounds = await stage.rounds(async () => {
    await measureDelivered(stage, bare, measured.bare);
    if (restate)
      await measure(restate, new RestateRuns(stepsOfRun, restate.port), measured.restate);
    await measureDelivered(stage, ours, measured.ours);
  }, 0.6);
  const long = { ours: await longRun(ours), bare: await longRun(bare) };
  const row = (what: string, { cpuMsPerRun, msPerStep, runsPerSecond }: Measured) => [
    what,
    spread(spreadOf(msPerStep)),
    spread(spreadOf(runsPerSecond)),
    spread(spreadOf(cpuMsPerRun)),
  ];
  const slower = ratioSpread(measured.ours.msPerStep, measured.bare.msPerStep);
  const share = ratioSpread(measured.ours.runsPerSecond, measured.bare.runsPerSecond);
  const ofRestate = {
    ms: ratioSpread(measured.ours.msPerStep, measured.restate.msPerStep),
    runs: ratioSpread(measured.ours.runsPerSecond, measured.restate.runsPerSecond),
    bareMs: ratioSpread(measured.bare.msPerStep, measured.restate.msPerStep),
    bareRuns: ratioSpread(measured.bare.runsPerSecond, measured.restate.runsPerSecond),
  };
  return {
    blocks: [
      `Runs of ${stepsOfRun} steps in sequence, from the start to the end that the endpoint reports; the endpoint is plain node:http in the process of the benchmark. The bare orchestrator is a hundred lines with the same two requests for each step, and syncs each start, step and end. Restate's server runs with its defaults, and its endpoint, of its own SDK, has one stream for a whole run; ${rounds} rounds.`,
      table(
        ["", "ms per step, one run at a time", `runs/s, ${atOnce} at a time`, "CPU ms/run"],
        [
          row("bare orchestrator", measured.bare),
          row("Restate", measured.restate),
          row("posthaste", measured.ours),
        ],
      ),
      `The bare orchestrator takes ${spread(ofRestate.bareMs)} times as long for a step as Restate, and completes ${spread(ofRestate.bareRuns)} times as many runs.`,
      table(
        ["a step of a run of", "posthaste, ms", "bare orchestrator, ms"],
        [
          [String(firstSteps), figure(long.ours.firstMs), figure(long.bare.firstMs)],
          [longSteps.toLocaleString("en-US"), figure(long.ours.ms), figure(long.bare.ms)],
        ],
      ),
      `${long.ours.sentMb.toFixed(0)} MB of history were sent to the endpoint in the long run, by Posthaste and by the bare orchestrator each.`,
    ],
    goals: [
      atMost("ms per step ÷ Restate", ofRestate.ms?.median, 0.7),
      atLeast("runs/s ÷ Restate", ofRestate.runs?.median, 1.5),
      atMost("ms per step ÷ bare orchestrator", slower?.median, 3),
      atLeast("runs/s ÷ bare orchestrator", share?.median, 0.33),
    ],
  };
}

/** Measures over an endpoint that is called for each step. */
async function measureDelivered(stage: Stage, system: System, into: Measured): Promise<void> {
  const endpoint = new RunEndpoint(stepsOfRun, system.port);
  await endpoint.start();
  const runs = await measure(system, endpoint, into);
  const expected = runs * (stepsOfRun + 1);
  if (endpoint.deliveries !== expected)
    stage.fault(`${system.name}: ${endpoint.deliveries} deliveries, and not ${expected}`);
}

async function measure(system: System, started: Runs, into: Measured): Promise<number> {
  const startedAt = performance.now();
  for (let n = 0; n < oneByOne; n++) await started.run();
  into.msPerStep.push((performance.now() - startedAt) / oneByOne / stepsOfRun);
  const cpuBefore = cpuMs(system.pids);
  const until = performance.now() + forMs;
  let runs = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (; performance.now() < until; runs++) await started.run();
    }),
  );
  into.runsPerSecond.push((runs * 1_000) / forMs);
  into.cpuMsPerRun.push((cpuMs(system.pids) - cpuBefore) / runs);
  await started.stop();
  return oneByOne + runs;
}

async function longRun({ port }: System) {
  const first = await timed(firstSteps, port);
  const all = await timed(longSteps, port);
  return { firstMs: first.ms, ms: all.ms, sentMb: all.received / 1e6 };
}

async function timed(steps: number, port: number): Promise<{ ms: number; received: number }> {
  const endpoint = new RunEndpoint(steps, port);
  await endpoint.start();
  const startedAt = performance.now();
  await endpoint.run();
  const ms = (performance.now() - startedAt) / steps;
  await endpoint.stop();
  return { ms, received: endpoint.received };
}
