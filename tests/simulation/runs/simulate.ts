/** One seed, one history of runs: troubles, then healing, then rest, then the checks. */
import { isActive, owesAnswer, type Run } from "@posthaste/domain";
import { dice } from "@posthaste/testing";
import { type Backend } from "../backend.ts";
import { atRest, describeUnrest, restless } from "../checks/at-rest.ts";
import { checkAlarms, everyStep } from "../checks/every-step.ts";
import { checkRuns } from "../checks/runs.ts";
import { composition, type Shape } from "../composition.ts";
import { gathered } from "../documents/backend.ts";
import { backendOf, haveTroubles, type Simulated, type SimulationOptions } from "../simulate.ts";
import { calm, drawTroubles } from "../world/chaos.ts";
import { destinations } from "../world/destination.ts";
import { History } from "../world/history.ts";
import { type Environment } from "../world/node.ts";
import { World } from "../world/world.ts";
import { workflowEndpoint } from "./endpoint.ts";
import { runWorkload } from "./workload.ts";

const stepMs = 1_000;
/** How long troubles go on after the last run has been started. */
const troubledMs = 120_000;
const lookEveryMs = 5_000;
const restMsMax = 3_600_000;
/** Far beyond what any seed needs, even with schedulers whose clock is ahead of the store's. */
const stepsMax = 200_000;
const sweepMsMax = 120_000;
const clockJumpMsMax = 600_000;

export async function simulateRuns({
  seed,
  mutation,
  onTrace,
  documents = mutation?.instead !== undefined,
  endsAtStep = Infinity,
}: SimulationOptions): Promise<Simulated> {
  const world = new World(seed, onTrace, documents ? gathered : undefined);
  const history = new History();
  const chance = world.chanceOf();
  const drawn: Shape = chance.chance(0.35) ? "standalone" : "distributed";
  const shape = documents ? "distributed" : drawn;
  let troubles = drawTroubles(chance);
  const environment: Environment = { world, history, troubles: () => troubles };
  const embedded = shape === "distributed" && mutation === undefined && chance.chance(0.3);
  const store = documents ? "documents" : embedded ? "embedded" : "model";
  const backend = backendOf(store, environment, seed, mutation);
  const { model } = backend;
  world.trace(`runs: seed ${seed} ${shape} over the ${store} store ${JSON.stringify(troubles)}`);
  const meeting = destinations(environment);
  const composed = composition(shape, environment, backend, meeting, mutation);
  meeting.serve(workflowEndpoint(environment, world.chanceOf(), () => composed.gateways()));
  const work = runWorkload(environment, dice(seed));
  if (model) {
    const checkRecords = everyStep(world, history, model.inspect);
    world.onStep = () => {
      checkRecords();
      checkAlarms(history, model);
    };
  }

  for (const node of composed.nodes) node.start();
  await world.advance(100);
  work.start(() => composed.gateways());
  haveTroubles(environment, chance, composed, backend, troubles, shape);

  const failed = (): boolean => {
    if (world.steps > stepsMax)
      history.violate("C21", `${world.steps} events and no rest: something goes round in a circle`);
    return history.violations.length > 0 || world.steps >= endsAtStep;
  };
  while (world.elapsed < work.lastAtMs + troubledMs && !failed()) await world.advance(stepMs);
  const wrongByMsMax = troubles.clockJumpEveryMs === undefined ? 0 : clockJumpMsMax;
  troubles = calm;
  for (const node of composed.nodes) node.skewMs = 0;
  world.trace("healed");
  const unrest = restless(history, backend);
  const leftNow = async (): Promise<readonly string[]> => [
    ...(work.isSettled() ? [] : ["a client waits for its answer"]),
    ...(await unrest()),
    ...(await openRuns(history, backend)),
  ];
  let left = await world.during(leftNow());
  while (left.length > 0 && world.elapsed < restMsMax + wrongByMsMax && !failed()) {
    await world.advance(lookEveryMs);
    if (work.isSettled()) backend.model?.fillDisk();
    left = await world.during(leftNow());
  }
  if (!failed() && left.length > 0) history.violate("R6", describeUnrest(left));
  if (!failed()) {
    await world.advance(sweepMsMax + wrongByMsMax);
    await world.during(atRest(history, backend, composed));
    await world.during(checkRuns(history, backend));
  }
  await world.during(backend.close());
  for (const { check, text } of history.violations.slice(0, 20))
    world.trace(`VIOLATED ${check}: ${text}`);
  return {
    of: "runs",
    seed,
    shape,
    store,
    violations: history.violations,
    digest: world.digest(),
    tail: world.tail,
    counts: history.counts,
    planned: history.runs.changes.size,
    steps: world.steps,
  };
}

/** R6: everything that an active run waits for comes, and the run that has invoked it is told of its end. */
async function openRuns({ runs }: History, backend: Backend): Promise<readonly string[]> {
  const open: Run[] = [];
  for (const [change] of runs.changes.values()) {
    const run = change && (await backend.runs.get(change.after));
    if (run && (isActive(run) || owesAnswer(run))) open.push(run);
  }
  return open.map(({ key, state, history }) => `${key} ${JSON.stringify({ state, history })}`);
}
