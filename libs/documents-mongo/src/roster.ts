/** The Roster port: one document for each deliverer, with the time of its last announcement. */
import { limits, type Owner, cutOff } from "@posthaste/domain";
import { type Roster, type RosterEntry } from "@posthaste/ports";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";

type StoredEntry = Omit<RosterEntry, "owner"> & { readonly _id: Owner; readonly at: number };

const collectionName = "roster";

export const rosterIndexes: readonly Index[] = [
  { collection: collectionName, key: { at: 1 }, is: "needed" },
];

/** A deliverer without an announcement for this long has died without leaving. */
const forgottenMs = 60_000;
/**
 * Forgotten deliverers are removed at a process's first announcement and then at each sixtieth. So a process that
 * dies again and again leaves few.
 */
const announcementsPerSweep = 60;

export function createRoster({ again, clock, collection }: Connection): Roster {
  const roster = collection<StoredEntry>(collectionName);
  let announcements = 0;
  return {
    announce: async ({ owner: _id, partitions, ...entry }) => {
      const at = clock.now();
      const $set = { at, ...entry, partitions: [...partitions] };
      await again(() => roster.updateOne({ _id }, { $set }, { upsert: true }));
      if (announcements++ % announcementsPerSweep > 0) return;
      await again(() => roster.deleteMany({ at: { $lt: cutOff(forgottenMs, at) } }));
    },
    leave: async (_id) => {
      await again(() => roster.deleteOne({ _id }));
    },
    read: async () => {
      const now = clock.now();
      const at = { $gt: cutOff(limits.rosterFreshMs, now), $lte: now + limits.rosterFreshMs };
      const fresh = await again(() => roster.find({ at }).toArray());
      return fresh.map(({ _id: owner, at: _, ...entry }) => ({ owner, ...entry }));
    },
  };
}
