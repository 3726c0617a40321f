/** Planted bugs: each is caught in a history of the first seeds. In several files, so that workers share them. */
import { describe, expect, it } from "@jest/globals";
import { type Mutation } from "./mutate.ts";
import { historiesOf } from "./histories.ts";

/** A bug that so many histories do not show would hide in the fixed seeds, too. */
const seedsMax = 60;
const seedsMaxRare = 200;
const timeoutMs = 120_000;

export function describePlantedBugs(mutations: readonly Mutation[]): void {
  describe("a planted bug is caught", () => {
    it.each(mutations)(
      "$name",
      async (mutation) => {
        const histories = historiesOf(mutation);
        const most = mutation.isRare ? seedsMaxRare : seedsMax;
        let violations = 0;
        for (let seed = 1; seed <= most && violations === 0; seed++) {
          violations = (await histories({ seed, mutation })).violations.length;
        }

        expect(violations).toBeGreaterThan(0);
      },
      timeoutMs,
    );
  });
}
