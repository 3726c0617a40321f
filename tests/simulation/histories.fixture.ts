/**
 * The histories that a suite simulates, each of which keeps its promises. `npm run test:full` tries the first seeds, always the same;
 * `npm test` tries fewer, which change from day to day (`POSTHASTE_TEST_SEED`, which the gates print, repeats a day). Both try the seeds
 * that have found a bug.
 */
import { it } from "@jest/globals";
import { reportOf } from "./histories.ts";
import { type Simulated } from "./stage.ts";

export const timeoutMs = 120_000;
const traceLinesMax = 60;

export class Histories {
  readonly all: Simulated[] = [];

  /** Tests each group of seeds, under a name that has the first seed. */
  testEach(name: string, { groups }: Seeds, of: (seed: number) => Promise<Simulated>): void {
    it.each(groups.map((seeds) => [seeds[0], seeds] as const))(
      name,
      async (_, seeds) => {
        for (const seed of seeds) this.hold(await of(seed));
      },
      timeoutMs,
    );
  }

  hold(simulated: Simulated): void {
    this.all.push(simulated);
    if (simulated.violations.length > 0) throw new Error(reportOf(simulated, traceLinesMax));
  }

  total(what: string): number {
    return this.all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
  }
}

const isFull = process.env["POSTHASTE_TEST_FULL"] === "true";
const day = Number(process.env["POSTHASTE_TEST_SEED"] ?? 0);

export type Seeds = {
  /** The seeds in groups, a test each, of a size that keeps the test within its time. */
  readonly groups: readonly (readonly number[])[];
  /** Scales a count among all seeds of `test:full` to the seeds that are tried: to a fifth of their share, since few seeds scatter. */
  readonly atLeast: (countOfAll: number) => number;
};

export function seedsOf(of: {
  readonly all: number;
  readonly rotating: number;
  readonly found: readonly number[];
  readonly perGroup: number;
}): Seeds {
  const first = isFull ? 1 : 1 + of.all + day * of.rotating;
  const count = isFull ? of.all : of.rotating;
  const drawn = Array.from({ length: count }, (_, i) => first + i);
  const groups = Array.from({ length: Math.ceil(count / of.perGroup) }, (_, i) =>
    drawn.slice(i * of.perGroup, (i + 1) * of.perGroup),
  );
  const share = isFull ? 1 : count / of.all / 5;
  return { groups: [...groups, of.found], atLeast: (countOfAll) => Math.floor(countOfAll * share) };
}
