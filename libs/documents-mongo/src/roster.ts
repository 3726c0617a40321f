/** The Roster port: one document for each deliverer, with the time at which it was last heard of. */
import { limits, type Owner } from "@posthaste/domain";
import { type Roster, type RosterEntry } from "@posthaste/ports";
import { type Connection } from "./connection.ts";

type StoredEntry = Omit<RosterEntry, "owner"> & { readonly _id: Owner; readonly at: number };

/** What was not heard of for so long has gone without leaving. */
const forgottenMs = 60_000;

export function createRoster({ again, clock, collection }: Connection): Roster {
  const roster = collection<StoredEntry>("roster");
  return {
    announce: async ({ owner: _id, partitions, isOpen }) => {
      const at = clock.now();
      const $set = { at, isOpen, partitions: [...partitions] };
      await again(() => roster.updateOne({ _id }, { $set }, { upsert: true }));
    },
    leave: async (owner) => {
      const gone = { $or: [{ _id: owner }, { at: { $lt: clock.now() - forgottenMs } }] };
      await again(() => roster.deleteMany(gone));
    },
    read: async () => {
      const all = await again(() => roster.find({}).toArray());
      const since = clock.now() - limits.rosterFreshMs;
      return all.flatMap(({ _id: owner, at, isOpen, partitions }) =>
        at > since ? { owner, isOpen, partitions } : [],
      );
    },
  };
}
