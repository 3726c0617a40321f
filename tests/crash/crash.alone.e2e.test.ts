import { describe, expect, it } from "@jest/globals";
import { runCrashes } from "./run.ts";

describe("kill -9 in the middle of everything", () => {
  it("loses nothing that was acknowledged and repeats nothing that no kill explains", async () => {
    const verdict = await runCrashes({
      kills: 20,
      seed: 20_261_121,
      aliveMsMin: 100,
      aliveMsMax: 600,
    });

    expect(verdict.violations).toEqual([]);
    expect(verdict.acknowledged).toBeGreaterThan(1_000);
  }, 600_000);
});
