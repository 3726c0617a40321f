/** One seed, one history of runs: troubles, then healing, then rest, then the checks. */
import { isActive, owesAnswer, type Run } from "@posthaste/domain";
import { dice } from "@posthaste/testing";
import { type Backend } from "../backend.ts";
import { atRest, describeUnrest, restless } from "../checks/at-rest.ts";
import { checkRuns } from "../checks/runs.ts";
import { openStage, type Simulated, type SimulationOptions } from "../stage.ts";
import { type History } from "../world/history.ts";
import { workflowEndpoint } from "./endpoint.ts";
import { runWorkload } from "./workload.ts";

const stepMs = 1_000;
/** How long troubles continue after the last run has been started. */
const troubledMs = 120_000;
const lookEveryMs = 5_000;
const restMsMax = 3_600_000;
const sweepMsMax = 120_000;

export async function simulateRuns(options: SimulationOptions): Promise<Simulated> {
  const stage = openStage("runs", options);
  const { world, history, environment, backend, composed, wrongByMsMax } = stage;
  stage.meeting.serve(workflowEndpoint(environment, world.chanceOf(), () => composed.gateways()));
  const work = runWorkload(environment, dice(options.seed));
  await stage.start(() => work.start(() => composed.gateways()));

  while (world.elapsed < work.lastAtMs + troubledMs && !stage.isOver()) await world.advance(stepMs);
  stage.heal();
  const unrest = restless(history, backend);
  const leftNow = async (): Promise<readonly string[]> => [
    ...(work.isSettled() ? [] : ["a client waits for its answer"]),
    ...(await unrest()),
    ...(await openRuns(history, backend)),
  ];
  let left = await world.during(leftNow());
  while (left.length > 0 && world.elapsed < restMsMax + wrongByMsMax && !stage.isOver()) {
    await world.advance(lookEveryMs);
    if (work.isSettled()) backend.model?.fillDisk();
    left = await world.during(leftNow());
  }
  if (!stage.isOver() && left.length > 0) history.violate("R6", describeUnrest(left));
  if (!stage.isOver()) {
    await world.advance(sweepMsMax + wrongByMsMax);
    await world.during(atRest(history, backend, composed));
    await world.during(checkRuns(history, backend));
  }
  return stage.close(history.runs.changes.size);
}

/** R6: everything that an active run waits for comes, and the run that has invoked it gets its end. */
async function openRuns({ runs }: History, backend: Backend): Promise<readonly string[]> {
  const open: Run[] = [];
  for (const [change] of runs.changes.values()) {
    const run = change && (await backend.runs.get(change.after));
    if (run && (isActive(run) || owesAnswer(run))) open.push(run);
  }
  return open.map(({ key, state, history }) => `${key} ${JSON.stringify({ state, history })}`);
}
