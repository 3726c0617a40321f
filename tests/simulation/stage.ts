/** The stage of a history: its services over a store, its time of troubles, and its end. */
import { type Dice, dice } from "@posthaste/testing";
import { type Backend, embeddedBackend, modelBackend } from "./backend.ts";
import { checkAlarms, everyStep } from "./checks/every-step.ts";
import { type Composition, composition, type Shape } from "./composition.ts";
import { documentsBackend, gathered } from "./documents/backend.ts";
import { type Mutation } from "./mutate.ts";
import { calm, drawTroubles, type Troubles } from "./world/chaos.ts";
import { destinations } from "./world/destination.ts";
import { History, type Violation } from "./world/history.ts";
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

/** Far beyond what any seed needs. */
const stepsMax = 400_000;
const clockJumps = [600_000, -600_000, 90_000, -90_000, 2_000, -2_000] as const;
/** A seed of its own, so that its draws change no history over another store. */
const documentSeeds = 5_000_000;

export function openStage(
  of: Simulated["of"],
  {
    seed,
    mutation,
    onTrace,
    documents = mutation?.instead !== undefined,
    endsAtStep = Infinity,
  }: SimulationOptions,
) {
  const world = new World(seed, onTrace, documents ? gathered : undefined);
  const history = new History();
  const chance = world.chanceOf();
  const drawn: Shape = chance.chance(0.35) ? "standalone" : "distributed";
  const shape = documents ? "distributed" : drawn;
  const drawnTroubles = drawTroubles(chance);
  let troubles = drawnTroubles;
  const environment: Environment = { world, history, troubles: () => troubles };
  const embedded = shape === "distributed" && mutation === undefined && chance.chance(0.3);
  const store = documents ? "documents" : embedded ? "embedded" : "model";
  const backend = backendOf(store, environment, seed, mutation);
  const { model } = backend;
  world.trace(`${of}: seed ${seed} ${shape} over the ${store} store ${JSON.stringify(troubles)}`);
  const meeting = destinations(environment);
  const composed = composition(shape, environment, backend, meeting, mutation);
  if (model) {
    const checkRecords = everyStep(world, history, model.inspect);
    world.onStep = () => {
      checkRecords();
      checkAlarms(history, model);
    };
  }
  return {
    ...{ world, history, shape, store, environment, backend, meeting, composed },
    /** A clock that was ahead has recorded times that are still to come, at most so far. */
    wrongByMsMax: drawnTroubles.clockJumpEveryMs === undefined ? 0 : clockJumps[0],
    isOver: (): boolean => {
      if (world.steps > stepsMax)
        history.violate(
          "C21",
          `${world.steps} events and no rest: something goes round in a circle`,
        );
      return history.violations.length > 0 || world.steps >= endsAtStep;
    },
    start: async (startClients: () => void): Promise<void> => {
      for (const node of composed.nodes) node.start();
      await world.advance(100);
      startClients();
      haveTroubles(environment, chance, composed, backend, drawnTroubles, shape);
    },
    heal: (): void => {
      troubles = calm;
      for (const node of composed.nodes) node.skewMs = 0;
      world.trace("healed");
    },
    close: async (planned: number): Promise<Simulated> => {
      await world.during(backend.close());
      for (const { check, text } of history.violations.slice(0, 20))
        world.trace(`VIOLATED ${check}: ${text}`);
      return {
        ...{ of, seed, shape, store, planned },
        violations: history.violations,
        digest: world.digest(),
        tail: world.tail,
        counts: history.counts,
        steps: world.steps,
      };
    },
  };
}

function backendOf(
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
function haveTroubles(
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
