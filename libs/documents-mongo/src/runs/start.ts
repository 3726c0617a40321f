/** Starts a run: writes its parts, then its head under the next use of its id, then its record. */
import { limits, placeOfUrl } from "@posthaste/domain";
import {
  type RunAddress,
  type RunStore,
  type RunWrite,
  type StartedRun,
  StoreError,
} from "@posthaste/ports";
import { newWrite } from "../change-by-token.ts";
import { insertMissing } from "../insert-missing.ts";
import { partsOf } from "./changes.ts";
import { putParts, replaceParts } from "./parts.ts";
import { find, findRoot, newestUse, type StoreWithRuns } from "./store.ts";
import { alarmOf, placeOfRun, runFrom, type StoredRun } from "./stored-run.ts";

const triesMax = 50;
/** A start that is written this long after its search for a use of the id searches again: that use may have been swept meanwhile. */
const lookIsGoodForMs = 20_000;

/** Starts the run. `first` runs before the head is written, and may give the start up. */
export async function start<GivenUp>(
  store: StoreWithRuns,
  address: RunAddress,
  make: Parameters<RunStore["start"]>[3],
  first: (write: RunWrite) => Promise<GivenUp | undefined>,
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
    const givenUp = await first(write);
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
