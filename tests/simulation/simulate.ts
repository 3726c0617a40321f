/** One seed, one history: troubles, then healing, then rest, then the checks. */
import { addToGroup } from "@posthaste/engine";
import { defaultPlan, dlqId } from "@posthaste/domain";
import { type Dice, dice } from "@posthaste/testing";
import { type Backend, embeddedBackend, modelBackend } from "./backend.ts";
import { bulkWorkload } from "./bulk-workload.ts";
import { atRest, describeUnrest, restless } from "./checks/at-rest.ts";
import { checkAlarms, everyStep } from "./checks/every-step.ts";
import { checkHistory } from "./checks/history.ts";
import { type Composition, composition, type Shape } from "./composition.ts";
import { letterWorkload } from "./letter-workload.ts";
import { documentsBackend, gathered } from "./documents/backend.ts";
import { type Mutation } from "./mutate.ts";
import { plainWorkload } from "./plain-workload.ts";
import { scheduleWorkload } from "./schedule-workload.ts";
import { workload } from "./workload.ts";
import { calm, drawTroubles, type Troubles } from "./world/chaos.ts";
import { destinations } from "./world/destination.ts";
import { type Exchange, History, type Violation } from "./world/history.ts";
import { type Environment, pauseMsMax } from "./world/node.ts";
import { type TraceSink, World } from "./world/world.ts";

export type Simulated = {
  readonly of: "messages" | "runs" | "clocks";
  readonly seed: number;
  readonly shape: Shape;
  readonly store: "model" | "embedded" | "documents";
  readonly violations: readonly Violation[];
  /** SHA-256 of the whole trace. */
  readonly digest: string;
  readonly tail: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly planned: number;
  readonly steps: number;
};

export type SimulationOptions = {
  readonly seed: number;
  readonly mutation?: Mutation;
  readonly onTrace?: TraceSink;
  /** Uses the six services over the adapter of MongoDB. */
  readonly documents?: boolean;
  /** Ends the history there, though nothing was violated. */
  readonly endsAtStep?: number;
};

const stepMs = 1_000;
const lookEveryMs = 5_000;
/** The time left after healing: a hint lost again and again doubles its distance to ten minutes; then leases, and the sweep. */
const healingMsMax = 1_500_000;
/** Seeds of their own, so that the draws of schedules change no history without them. */
const scheduleSeeds = 1_000_000;
const bulkSeeds = 2_000_000;
const plainSeeds = 3_000_000;
const letterSeeds = 4_000_000;
const documentSeeds = 5_000_000;
/** Runs with another planted bug have no letter workload: some bugs show in few histories. */
const letterShare = 0.25;
/** Far beyond what any seed needs. */
const stepsMax = 400_000;
const sweepMsMax = 120_000;
const clockJumps = [600_000, -600_000, 90_000, -90_000, 2_000, -2_000] as const;

export async function simulate({
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
  world.trace(`seed ${seed} ${shape} over the ${store} store ${JSON.stringify(troubles)}`);
  const meeting = destinations(environment);
  meeting.onReceipt((exchange) => checkFailureCallback(history, backend, exchange));
  const composed = composition(shape, environment, backend, meeting, mutation);
  const bulk = bulkWorkload(
    environment,
    dice(bulkSeeds + seed),
    mutation?.shownBy === "bulkActions",
  );
  const work = workload(environment, store !== "model", bulk, mutation?.shownBy === "queues");
  const scheduling = scheduleWorkload(
    environment,
    dice(scheduleSeeds + seed),
    work.groups,
    mutation?.shownBy === "schedules",
  );
  const plain = plainWorkload(
    environment,
    dice(plainSeeds + seed),
    mutation?.shownBy === "plainMessages",
  );
  const letters = letterWorkload(
    environment,
    dice(letterSeeds + seed),
    mutation ? Number(mutation.shownBy === "deadLetters") : letterShare,
  );
  const lastAtMs = Math.max(work.lastAtMs, scheduling.lastAtMs, plain.lastAtMs, letters.lastAtMs);
  if (model) {
    const checkRecords = everyStep(world, history, model.inspect);
    world.onStep = () => {
      checkRecords();
      checkAlarms(history, model);
    };
  }

  for (const { tenant, name, endpoints } of work.groups) {
    await world.during(addToGroup(backend.groups, tenant, name, endpoints, defaultPlan));
  }
  for (const node of composed.nodes) node.start();
  await world.advance(100);
  work.start(() => composed.gateways());
  scheduling.start(composed);
  plain.start(composed);
  letters.start(() => composed.gateways());
  haveTroubles(environment, chance, composed, backend, troubles, shape);

  const failed = (): boolean => {
    if (world.steps > stepsMax)
      history.violate("C21", `${world.steps} events and no rest: something goes round in a circle`);
    return history.violations.length > 0 || world.steps >= endsAtStep;
  };
  while (world.elapsed < lastAtMs + 10_000 && !failed()) await world.advance(stepMs);
  // A clock that was ahead has recorded times that are still to come.
  const wrongByMsMax = troubles.clockJumpEveryMs === undefined ? 0 : clockJumps[0];
  troubles = calm;
  for (const node of composed.nodes) node.skewMs = 0;
  world.trace("healed");
  if (!failed()) await scheduling.end(composed, backend);
  const restBy = lastAtMs + work.longestMs + healingMsMax + wrongByMsMax;
  const settledClients = (): boolean =>
    history.publications.length >= work.planned &&
    history.publications.every(({ settledAt }) => settledAt !== undefined) &&
    history.bulkCancels.every(({ endedAt }) => endedAt !== undefined) &&
    history.letterRetries.every(({ endedAt }) => endedAt !== undefined);
  const unrest = restless(history, backend);
  let left = await world.during(unrest());
  while ((!settledClients() || left.length > 0) && world.elapsed < restBy && !failed()) {
    await world.advance(lookEveryMs);
    if (!settledClients()) continue;
    // Accepted work ends, though no new work is accepted.
    backend.model?.fillDisk();
    left = await world.during(unrest());
  }
  if (!failed() && left.length > 0) history.violate("C21", describeUnrest(left));
  if (!failed()) {
    await world.advance(sweepMsMax + wrongByMsMax);
    await world.during(atRest(history, backend, composed));
    await world.during(checkHistory(history, backend, shape));
  }
  await world.during(backend.close());
  count(history);
  for (const { check, text } of history.violations.slice(0, 20))
    world.trace(`VIOLATED ${check}: ${text}`);
  return {
    of: "messages",
    seed,
    shape,
    store,
    violations: history.violations,
    digest: world.digest(),
    tail: world.tail,
    counts: history.counts,
    planned: work.planned,
    steps: world.steps,
  };
}

export function backendOf(
  store: Simulated["store"],
  environment: Environment,
  seed: number,
  mutation: Mutation | undefined,
): Backend {
  const { world } = environment;
  switch (store) {
    case "documents":
      return documentsBackend(environment, dice(documentSeeds + seed), mutation?.instead);
    case "embedded":
      return embeddedBackend(world);
    case "model":
      return modelBackend(world);
  }
}

/** Makes the troubles happen that need no call, until the time of troubles is over. */
export function haveTroubles(
  environment: Environment,
  chance: Dice,
  composed: Composition,
  backend: Backend,
  troubles: Troubles,
  shape: Shape,
): void {
  const { world, history } = environment;
  const anyNode = () => composed.nodes[chance.integer(0, composed.nodes.length - 1)];
  const again = (everyMs: number | undefined, happen: () => void): void => {
    if (everyMs === undefined) return;
    world.after(chance.integer(everyMs / 4, everyMs * 2), () => {
      if (environment.troubles() === calm) return;
      happen();
      again(everyMs, happen);
    });
  };
  again(troubles.pauseEveryMs, () =>
    anyNode()?.pause(
      chance.chance(0.5) ? chance.integer(100, 5_000) : chance.integer(5_000, pauseMsMax),
    ),
  );
  again(troubles.restartEveryMs, () => anyNode()?.restart());
  again(troubles.flushEveryMs, () => {
    if (!backend.flushTokens) return;
    history.fault("flush", undefined, world.now, world.now);
    world.trace("the token store forgets everything");
    backend.flushTokens();
  });
  // Inside one process there is no bus to go away.
  if (shape === "distributed")
    again(troubles.outageEveryMs, () => composed.bus.goAway(chance.integer(1_000, 60_000)));
  again(troubles.clockJumpEveryMs, () => {
    const node = anyNode();
    const jumpMs = chance.pick(clockJumps);
    const lastsMs = chance.integer(1_000, 60_000);
    if (!node?.life || node.skewMs !== 0) return;
    node.skewMs = jumpMs;
    world.trace(`the clock of ${node.name} jumps by ${jumpMs} ms for ${lastsMs} ms`);
    history.fault("clock", node.name, world.now, world.now + lastsMs);
    world.after(lastsMs, () => (node.skewMs = 0));
  });
}

/** C13 at the receiver: the dead letter that a failure callback names can be read. */
function checkFailureCallback(
  history: History,
  backend: Backend,
  { id, tenant, body }: Exchange,
): void {
  if (!id.endsWith("_fcb")) return;
  const said: unknown = JSON.parse(new TextDecoder().decode(body));
  const named =
    typeof said === "object" && said !== null && "dlqId" in said ? said.dlqId : undefined;
  history.count("failureCallbacks");
  void backend.deadLetters.get(tenant, dlqId(String(named))).then((letter) => {
    if (!letter)
      history.violate("I6", `${id} names the dead letter ${String(named)}, which is not there`);
  });
}

function count(history: History): void {
  for (const { settlement } of history.applied.values())
    history.count(`settled.${settlement.next.kind}`);
}
