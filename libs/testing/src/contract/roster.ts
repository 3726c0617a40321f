/** The contract of `Roster`: it lists the deliverers that have announced themselves lately. */
import { expect } from "@jest/globals";
import { limits, owner, type Owner } from "@posthaste/domain";
import { type Roster, type RosterEntry } from "@posthaste/ports";
import { type Closable, contract } from "./guarantee.ts";

export type RosterHarness = Closable & {
  readonly roster: Roster;
  readonly advance: (ms: number) => Promise<void>;
};

const [first, second] = [owner("first"), owner("second")];
const anEntry = (by: Owner, other: Partial<RosterEntry> = {}): RosterEntry => ({
  ...{ owner: by, partitions: [1], isOpen: true, isBusy: false, format: 1 },
  ...other,
});
const byOwner = async ({ roster }: RosterHarness) =>
  (await roster.read()).toSorted((a, b) => (a.owner < b.owner ? -1 : 1));

export function describeRoster(name: string, open: () => Promise<RosterHarness>): void {
  contract(`${name}: a roster`, open, {}, (it) => {
    it("returns the last entry of each deliverer", async (harness) => {
      const { roster } = harness;
      await roster.announce(anEntry(first));
      await roster.announce(anEntry(second, { partitions: [], format: 2 }));
      await roster.announce(anEntry(first, { partitions: [2, 3], isOpen: false }));

      expect(await byOwner(harness)).toEqual([
        anEntry(first, { partitions: [2, 3], isOpen: false }),
        anEntry(second, { partitions: [], format: 2 }),
      ]);
    });

    it("returns nothing for a deliverer that has left or never existed", async (harness) => {
      const { roster } = harness;
      await roster.announce(anEntry(first));
      await roster.leave(first);
      await roster.leave(second);

      expect(await roster.read()).toEqual([]);
    });

    it("returns nothing for a deliverer that was silent for three seconds", async (harness) => {
      const { roster } = harness;
      await roster.announce(anEntry(first));
      await harness.advance(limits.rosterFreshMs - limits.rosterEveryMs);
      await roster.announce(anEntry(second));
      await harness.advance(limits.rosterEveryMs);

      expect((await roster.read()).map((entry) => entry.owner)).toEqual([second]);
    });
  });
}
