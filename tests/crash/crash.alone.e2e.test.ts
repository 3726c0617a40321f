import { describe, expect, it } from "@jest/globals";
import { runCrashes } from "./run.ts";

describe("the standalone, killed at random times under load", () => {
  it("loses no acknowledged message and repeats only attempts that a kill explains", async () => {
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
