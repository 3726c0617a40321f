/** Planted bugs: each is caught in a history of the first seeds. In several files, so that workers share them. */
import { describe, expect, it } from "@jest/globals";
import { type Mutation } from "./mutate.ts";
import { seedThatShows } from "./remembered-seeds.ts";

const timeoutMs = 120_000;

export function describePlantedBugs(mutations: readonly Mutation[]): void {
  describe("a planted bug is caught", () => {
    it.each(mutations)(
      "$name",
      async (mutation) => {
        expect(await seedThatShows(mutation)).toBeDefined();
      },
      timeoutMs,
    );
  });
}
