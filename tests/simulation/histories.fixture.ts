/** The histories that a suite simulates, each of which keeps its promises. */
import { it } from "@jest/globals";
import { describe as report } from "./report.ts";
import { type Seeds } from "./seeds.fixture.ts";
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
    if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
  }

  total(what: string): number {
    return this.all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
  }
}
