/** Runs of trivial steps: how long one takes from its start to its end, and how many there are at twenty at a time. */
import { RunEndpoint } from "../load/run-endpoint.ts";
import { atMost, atLeast } from "../report/goals.ts";
import { spread, table } from "../report/markdown.ts";
import { ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { startOrchestrator } from "../systems/orchestrator.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const stepsOfRun = 3;
const oneByOne = 200;
const atOnce = 20;
const forMs = 3_000;
const longSteps = 1_000;

export const steps: Scenario = {
  name: "steps",
  title: "Workflow runs of trivial steps",
  budgetMs: 60_000,
  run,
};

type Measured = {
  readonly msPerStep: number[];
  readonly runsPerSecond: number[];
  readonly cpuMsPerRun: number[];
};
const nothing = (): Measured => ({ msPerStep: [], runsPerSecond: [], cpuMsPerRun: [] });

async function run(stage: Stage): Promise<Findings> {
  const ours = await stage.start(...posthaste);
  const bare = await stage.start("bare orchestrator", startOrchestrator);
  if (ours === undefined || bare === undefined) return { blocks: ["Not measured."] };
  const measured = { ours: nothing(), bare: nothing() };
  const rounds = await stage.rounds(async () => {
    await measure(stage, bare, measured.bare);
    await measure(stage, ours, measured.ours);
  });
  const longMs = await long(ours);
  const row = (what: string, { cpuMsPerRun, msPerStep, runsPerSecond }: Measured) => [
    what,
    spread(spreadOf(msPerStep)),
    spread(spreadOf(runsPerSecond)),
    spread(spreadOf(cpuMsPerRun)),
  ];
  const slower = ratioSpread(measured.ours.msPerStep, measured.bare.msPerStep);
  const share = ratioSpread(measured.ours.runsPerSecond, measured.bare.runsPerSecond);
  return {
    blocks: [
      `Runs of ${stepsOfRun} steps in sequence, from the start to the end that the endpoint tells; the endpoint is plain node:http in the benchmark's own process. Beside it an orchestrator of a hundred lines, which syncs each start, step and end, and nothing else; ${rounds} rounds.`,
      table(
        ["", "ms a step, one run at a time", `runs/s, ${atOnce} at a time`, "CPU ms/run"],
        [row("bare orchestrator", measured.bare), row("posthaste", measured.ours)],
      ),
      `A run of ${longSteps.toLocaleString("en-US")} steps took ${(longMs / longSteps).toFixed(2)} ms a step.`,
    ],
    goals: [
      atMost("ms of a step, one run at a time", spreadOf(measured.ours.msPerStep)?.median, 1.69),
      atMost("ms of a step ÷ the bare orchestrator's", slower?.median, 3),
      atLeast("runs/s ÷ the bare orchestrator's", share?.median, 0.33),
    ],
  };
}

async function measure(stage: Stage, system: System, into: Measured): Promise<void> {
  const endpoint = new RunEndpoint(stepsOfRun, system.port);
  await endpoint.start();
  const startedAt = performance.now();
  for (let n = 0; n < oneByOne; n++) await endpoint.run();
  into.msPerStep.push((performance.now() - startedAt) / oneByOne / stepsOfRun);
  const cpuBefore = cpuMs(system.pids);
  const until = performance.now() + forMs;
  let runs = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (; performance.now() < until; runs++) await endpoint.run();
    }),
  );
  into.runsPerSecond.push((runs * 1_000) / forMs);
  into.cpuMsPerRun.push((cpuMs(system.pids) - cpuBefore) / runs);
  const expected = (oneByOne + runs) * (stepsOfRun + 1);
  if (endpoint.deliveries !== expected)
    stage.fault(`${system.name}: ${endpoint.deliveries} deliveries, and not ${expected}`);
  await endpoint.stop();
}

/** How long one run of many steps takes. */
async function long({ port }: System): Promise<number> {
  const endpoint = new RunEndpoint(longSteps, port);
  await endpoint.start();
  const startedAt = performance.now();
  await endpoint.run();
  const took = performance.now() - startedAt;
  await endpoint.stop();
  return took;
}
