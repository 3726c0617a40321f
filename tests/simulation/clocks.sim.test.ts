import { describe, expect, it } from "@jest/globals";
import { simulateClocks } from "./clocks/simulate.ts";
import { describe as report } from "./report.ts";
import { seedsOf } from "./seeds.fixture.ts";
import { type Simulated } from "./simulate.ts";

const { groups, atLeast } = seedsOf({ all: 30, rotating: 8, found: [1, 2, 4, 9], perGroup: 30 });
const timeoutMs = 120_000;
const traceLinesMax = 60;

describe("a simulated installation whose clock is set", () => {
  it(
    "delivers what is due, calls nothing twice, ends its windows and sweeps what has ended",
    async () => {
      const all: Simulated[] = [];
      for (const seed of groups.flat()) {
        const simulated = await simulateClocks({ seed });
        if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
        all.push(simulated);
      }

      const total = (what: string): number =>
        all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
      expect(total("clock.back")).toBeGreaterThanOrEqual(atLeast(5));
      expect(total("clock.ahead")).toBeGreaterThanOrEqual(atLeast(5));
      expect(total("windows")).toBeGreaterThanOrEqual(atLeast(500));
      expect(total("swept")).toBeGreaterThanOrEqual(atLeast(3_000));
      expect(new Set(all.map(({ shape, store }) => `${shape} ${store}`)).size).toBe(3);
    },
    timeoutMs,
  );
});
