import { simulateClocks } from "./clocks/simulate.ts";
import { type Mutation } from "./mutate.ts";
import { simulateRuns } from "./runs/simulate.ts";
import { simulate } from "./simulate.ts";
import { type Simulated, type SimulationOptions } from "./stage.ts";

type Simulate = (options: SimulationOptions) => Promise<Simulated>;

export const histories: { readonly [Of in Simulated["of"]]: Simulate } = {
  messages: simulate,
  runs: simulateRuns,
  clocks: simulateClocks,
};

/** Returns the kind of history in which a planted bug shows. */
export const historiesOf = ({ shownBy }: Pick<Mutation, "shownBy">): Simulate =>
  shownBy === "runs" || shownBy === "clocks" ? histories[shownBy] : histories.messages;
