import { describe, expect, it } from "@jest/globals";
import { simulateClocks } from "./clocks/simulate.ts";
import { describe as report } from "./report.ts";
import { type Simulated } from "./simulate.ts";

const seeds = Array.from({ length: 30 }, (_, i) => i + 1);
const timeoutMs = 120_000;
const traceLinesMax = 60;

describe("a simulated installation whose clock is set", () => {
  it(
    "delivers what is due, calls nothing twice, ends its windows and sweeps what has ended",
    async () => {
      const all: Simulated[] = [];
      for (const seed of seeds) {
        const simulated = await simulateClocks({ seed });
        if (simulated.violations.length > 0) throw new Error(report(simulated, traceLinesMax));
        all.push(simulated);
      }

      const total = (what: string): number =>
        all.reduce((sum, { counts }) => sum + (counts.get(what) ?? 0), 0);
      expect(total("clock.back")).toBeGreaterThanOrEqual(5);
      expect(total("clock.ahead")).toBeGreaterThanOrEqual(5);
      expect(total("windows")).toBeGreaterThanOrEqual(500);
      expect(total("swept")).toBeGreaterThanOrEqual(3_000);
      expect(new Set(all.map(({ shape, store }) => `${shape} ${store}`)).size).toBe(3);
    },
    timeoutMs,
  );
});
