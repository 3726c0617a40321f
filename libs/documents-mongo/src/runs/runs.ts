/**
 * The RunStore port: writes parts, then the head by its version, then the records. If a process dies between the last
 * two, the head's alarm inserts the missing records (alarms.ts).
 */
import { type Run, type RunKey, wantedOf, limits, placeOfUrl } from "@posthaste/domain";
import {
  type BriefFor,
  type Briefing,
  type RunStore,
  type RunAddress,
  type RunWrite,
  type StartedRun,
  StoreError,
} from "@posthaste/ports";
import { type Filter } from "mongodb";
import { newWrite } from "../writes/change-by-token.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { createChange, partsOf } from "./changes.ts";
import { copyParts, entriesOf, someEntriesOf, putParts, replaceParts } from "./parts.ts";
import {
  type Address,
  find,
  findRoot,
  type StoreWithRuns,
  newestUse,
  partFrom,
  partKey,
  runFrom,
  type StoredRun,
  alarmOf,
  placeOfRun,
} from "./store.ts";
import { createSweep } from "./sweep.ts";

export function createRuns(store: StoreWithRuns): RunStore {
  const { again, parts, runs } = store;
  const get = async (address: Address): Promise<Run | undefined> => {
    const stored = await find(store, address);
    return stored && runFrom(stored);
  };
  return {
    start: (tenant, id, _intake, make) => start(store, { tenant, id }, make),
    resume: (tenant, id, inherited, make) =>
      start(store, { tenant, id }, make, (write) => copyParts(store, inherited, write)),
    change: createChange(store),
    get,
    byRoot: async (root) => {
      const stored = await findRoot(store, root);
      return stored && runFrom(stored);
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

const triesMax = 50;
/** A start that is written this long after its search for a use of the id searches again: that use may have been swept meanwhile. */
const lookIsGoodForMs = 20_000;

/**
 * Starts a run: writes its parts, then its head under the next use of its id, then its record. `first` runs before the head is written,
 * and may give the start up.
 */
async function start<GivenUp = never>(
  store: StoreWithRuns,
  address: RunAddress,
  make: Parameters<RunStore["start"]>[3],
  first?: (write: RunWrite) => Promise<GivenUp | undefined>,
): Promise<StartedRun | GivenUp> {
  let written: RunWrite | undefined;
  for (let tries = 0; tries < triesMax; tries++) {
    const lookedAt = store.clock.passedMs();
    const before = await newestUse(store, address);
    if (before?.run?.state.kind === "active") {
      await removeLost(store, written);
      return { kind: "known", run: runFrom(before.run) };
    }
    const { generation = 0, createdAt = 0 } = before?.use ?? {};
    const use = { generation: generation + 1, after: createdAt };
    const write = make({ ...use, ...(before?.run && { before: runFrom(before.run) }) });
    // Parts under this root are from an earlier try of this start. The parts of an invocation may be another process's.
    const strange = await putParts(store, write);
    written = write;
    const other = strange.length > 0 && (await findRoot(store, write.run.root));
    if (other) return { kind: "known", run: runFrom(other) };
    await replaceParts(store, strange);
    const givenUp = await first?.(write);
    if (givenUp !== undefined) {
      await removeLost(store, written);
      return givenUp;
    }
    if (store.clock.passedMs() - lookedAt > lookIsGoodForMs) continue;
    const known = await insertMissing(store.again, store.runs, [headOf(store, write)]);
    // An earlier try, whose reply was lost, wrote the head; other changes may have come since.
    if (known.size > 0 && !(await find(store, write.run))) continue;
    await store.insert(
      write.deliveries.map((record) => ({ record })),
      "accepted",
    );
    return { kind: "started", run: write.run };
  }
  throw new StoreError("overloaded", "too many calls start the same run at once");
}

/**
 * Removes the parts of a start that has not become a run. A child's root is that of its invocation, and another
 * process may be starting it now, so its parts stay.
 */
async function removeLost(
  { again, parts }: StoreWithRuns,
  written: RunWrite | undefined,
): Promise<void> {
  if (!written || written.run.invoker) return;
  await again(() => parts.deleteMany({ run: written.run.root }));
}

function headOf(store: StoreWithRuns, write: RunWrite): StoredRun {
  const { key, ...run } = write.run;
  const { hosts, path } = placeOfUrl(run.url);
  return {
    ...run,
    _id: key,
    writes: [newWrite(store.random)],
    place: placeOfRun(run),
    hosts,
    ...(path !== undefined && { path }),
    ...alarmOf(write.run),
    ...ahead(store, write),
  };
}

/** Returns the alarm by which the records of a write are inserted, should this process insert none of them. */
function ahead(
  { clock }: StoreWithRuns,
  { deliveries }: RunWrite,
): Pick<StoredRun, "deliver" | "deliverAt"> {
  if (deliveries.length === 0) return {};
  return { deliver: partsOf(deliveries), deliverAt: clock.now() + limits.ringAheadMs };
}
