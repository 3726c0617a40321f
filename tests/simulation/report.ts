import { type Simulated } from "./stage.ts";

/** Describes a failure: the seed, the violated checks, and the last part of the trace. */
export function describe(
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
