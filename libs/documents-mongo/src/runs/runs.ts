/**
 * The RunStore port: writes parts, then the head by its version, then the records. If a process dies between the last
 * two, the head's alarm inserts the missing records (alarms.ts).
 */
import { type Run, type RunKey, wantedOf } from "@posthaste/domain";
import { type BriefFor, type Briefing, type RunStore } from "@posthaste/ports";
import { type Filter } from "mongodb";
import { createChange } from "./changes.ts";
import { copyParts, entriesOf, someEntriesOf } from "./parts.ts";
import { type Address, find, findRoot, type RunRooms } from "./rooms.ts";
import { start } from "./start.ts";
import { createSweep } from "./sweep.ts";
import { partFrom, partKey, runFrom, type StoredRun } from "./stored-run.ts";

export function createRuns(rooms: RunRooms): RunStore {
  const { again, parts, runs } = rooms;
  const get = async (address: Address): Promise<Run | undefined> => {
    const stored = await find(rooms, address);
    return stored && runFrom(stored);
  };
  return {
    start: (tenant, id, _intake, make) => start<never>(rooms, { tenant, id }, make, nothingFirst),
    resume: (tenant, id, inherited, make) =>
      start(rooms, { tenant, id }, make, (write) => copyParts(rooms, inherited, write)),
    change: createChange(rooms),
    get,
    byRoot: async (root) => {
      const stored = await findRoot(rooms, root);
      return stored ? runFrom(stored) : undefined;
    },
    byAlias: async (tenant, id) => {
      const newest = (filter: Filter<StoredRun>) =>
        again(() => runs.findOne({ tenant, aliases: id, ...filter }, { sort: { place: -1 } }));
      const stored = (await newest({ "state.kind": "active" })) ?? (await newest({}));
      return stored ? runFrom(stored) : undefined;
    },
    waiting: async (tenant, event, after, limit) => {
      const filter = {
        tenant,
        events: event,
        ...(after && { _id: { $gt: after.key } }),
      };
      const found = await again(() =>
        runs
          .find(filter, { projection: { root: 1 } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id: key, root }) => ({ key, root }));
    },
    part: async ({ root }, name) => {
      const part = await again(() => parts.findOne({ _id: partKey(root, name) }));
      return part ? partFrom(part) : undefined;
    },
    history: (run, from) => someEntriesOf(rooms, run, from),
    brief: (deliveries) => brief(rooms, deliveries),
    sweep: createSweep(rooms),
  };
}

const nothingFirst = (): Promise<undefined> => Promise.resolve(undefined);

async function brief(
  rooms: RunRooms,
  deliveries: readonly BriefFor[],
): Promise<readonly Briefing[]> {
  const keys = [...new Set(deliveries.map(({ run: { key } }) => key))];
  const found = await rooms.again(() => rooms.runs.find({ _id: { $in: keys } }).toArray());
  const heads = new Map<RunKey, Run>(found.map((stored) => [stored._id, runFrom(stored)]));
  return Promise.all(
    deliveries.map(async ({ run: inRun, epoch, from }): Promise<Briefing> => {
      const run = heads.get(inRun.key);
      const wanted = wantedOf(run, inRun, epoch);
      if (typeof wanted === "string") return wanted;
      if (!run) return "unwanted";
      return { ...wanted, entries: await entriesOf(rooms, run, from, wanted.rank) };
    }),
  );
}
