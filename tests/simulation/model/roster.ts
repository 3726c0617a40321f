/** The roster in memory. */
import { limits, type Owner, isOver } from "@posthaste/domain";
import { type Roster, type RosterEntry } from "@posthaste/ports";

export function modelRoster(now: () => number): Roster {
  const entries = new Map<Owner, { readonly entry: RosterEntry; readonly at: number }>();
  return {
    announce: async (entry) => void entries.set(entry.owner, { entry, at: now() }),
    leave: async (owner) => void entries.delete(owner),
    read: async () =>
      [...entries.values()].flatMap(({ entry, at }) =>
        isOver(at + limits.rosterFreshMs, limits.rosterFreshMs, now()) ? [] : entry,
      ),
  };
}
