/** The roster in memory. */
import { limits, type Owner } from "@posthaste/domain";
import { type Roster, type RosterEntry } from "@posthaste/ports";

export function modelRoster(now: () => number): Roster {
  const entries = new Map<Owner, { readonly entry: RosterEntry; readonly at: number }>();
  return {
    announce: async (entry) => void entries.set(entry.owner, { entry, at: now() }),
    leave: async (owner) => void entries.delete(owner),
    read: async () =>
      [...entries.values()].flatMap(({ entry, at }) =>
        at > now() - limits.rosterFreshMs && at <= now() + limits.rosterFreshMs ? entry : [],
      ),
  };
}
