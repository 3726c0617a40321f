import { describe, expect, it } from "@jest/globals";
import { simulateClocks } from "./clocks/simulate.ts";
import { Histories, timeoutMs, seedsOf } from "./histories.fixture.ts";

const { groups, atLeast } = seedsOf({ all: 30, rotating: 8, found: [1, 2, 4, 9], perGroup: 30 });

describe("a simulated installation whose clock is set", () => {
  it(
    "delivers due messages, repeats no call, ends its windows and sweeps ended messages",
    async () => {
      const histories = new Histories();
      for (const seed of groups.flat()) histories.hold(await simulateClocks({ seed }));

      expect(histories.total("clock.back")).toBeGreaterThanOrEqual(atLeast(5));
      expect(histories.total("clock.ahead")).toBeGreaterThanOrEqual(atLeast(5));
      expect(histories.total("windows")).toBeGreaterThanOrEqual(atLeast(500));
      expect(histories.total("swept")).toBeGreaterThanOrEqual(atLeast(3_000));
      expect(new Set(histories.all.map(({ shape, store }) => `${shape} ${store}`)).size).toBe(3);
    },
    timeoutMs,
  );
});
