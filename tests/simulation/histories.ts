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

/** Describes a failure: the seed, the violated checks, and the last part of the trace. */
export function reportOf(
  { of, seed, shape, store, violations, tail }: Simulated,
  linesMax: number,
): string {
  const violated = violations.slice(0, 10).map(({ check, text }) => `  ${check}: ${text}`);
  const kind = of === "messages" ? "" : `--${of} `;
  const again = `node tests/simulation/main.ts ${kind}--seed ${seed} --trace`;
  return [
    `seed ${seed} (${shape}, ${store}) violates ${violations.length} checks; again: ${again}`,
    ...violated,
    ...(linesMax > 0 ? tail.slice(-linesMax) : []),
  ]
    .slice(0, linesMax + 11)
    .join("\n");
}
