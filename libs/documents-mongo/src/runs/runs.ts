/**
 * The RunStore port: writes parts, then the head by its version, then the records. If a process dies between the last
 * two, the head's alarm inserts the missing records (alarms.ts).
 */
import { type Run, type RunKey, wantedOf } from "@posthaste/domain";
import { type BriefFor, type Briefing, type RunStore } from "@posthaste/ports";
import { type Filter } from "mongodb";
import { createChange } from "./changes.ts";
import { copyParts, entriesOf, someEntriesOf } from "./parts.ts";
import { type Address, find, findRoot, type StoreWithRuns } from "./store.ts";
import { start } from "./start.ts";
import { createSweep } from "./sweep.ts";
import { partFrom, partKey, runFrom, type StoredRun } from "./stored-run.ts";

export function createRuns(store: StoreWithRuns): RunStore {
  const { again, parts, runs } = store;
  const get = async (address: Address): Promise<Run | undefined> => {
    const stored = await find(store, address);
    return stored && runFrom(stored);
  };
  return {
    start: (tenant, id, _intake, make) => start<never>(store, { tenant, id }, make, nothingFirst),
    resume: (tenant, id, inherited, make) =>
      start(store, { tenant, id }, make, (write) => copyParts(store, inherited, write)),
    change: createChange(store),
    get,
    byRoot: async (root) => {
      const stored = await findRoot(store, root);
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
    history: (run, from) => someEntriesOf(store, run, from),
    brief: (deliveries) => brief(store, deliveries),
    sweep: createSweep(store),
  };
}

const nothingFirst = (): Promise<undefined> => Promise.resolve(undefined);

async function brief(
  store: StoreWithRuns,
  deliveries: readonly BriefFor[],
): Promise<readonly Briefing[]> {
  const keys = [...new Set(deliveries.map(({ run: { key } }) => key))];
  const found = await store.again(() => store.runs.find({ _id: { $in: keys } }).toArray());
  const heads = new Map<RunKey, Run>(found.map((stored) => [stored._id, runFrom(stored)]));
  return Promise.all(
    deliveries.map(async ({ run: inRun, epoch, from }): Promise<Briefing> => {
      const run = heads.get(inRun.key);
      const wanted = wantedOf(run, inRun, epoch);
      if (typeof wanted === "string") return wanted;
      if (!run) return "unwanted";
      return { ...wanted, entries: await entriesOf(store, run, from, wanted.rank) };
    }),
  );
}
