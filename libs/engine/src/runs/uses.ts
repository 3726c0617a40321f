/** Runs that wait for the use of their id before, until no delivery of that use is under way. */
import {
  askedBy,
  isHeld,
  type MessageRecord,
  released,
  type Run,
  type RunRef,
} from "@posthaste/domain";
import { headIfChanged, type Records, type RunStore } from "@posthaste/ports";

export type UsePorts = {
  readonly records: Pick<Records, "get">;
  readonly runs: Pick<RunStore, "change" | "get">;
};

/**
 * Releases a held run once no delivery of the use before it is under way: requests that name only the id belong to the run from
 * then on. Returns false while a delivery is under way.
 */
export async function beginHeld(ports: UsePorts, run: RunRef, behind: RunRef): Promise<boolean> {
  if (await isDelivered(ports, behind)) return false;
  await ports.runs.change(run, (seen) => headIfChanged(released(seen)));
  return true;
}

/** Releases a run that has just started as soon as it may begin. If that fails here, it is done before the first delivery. */
export async function beginUnlessHeld(ports: UsePorts, run: Run): Promise<void> {
  const behind = isHeld(run) ? run.state.behind : undefined;
  if (behind) await beginHeld(ports, run, behind).catch(() => false);
}

const recordsMax = 500;

async function isDelivered({ records, runs }: UsePorts, ref: RunRef): Promise<boolean> {
  const run = await runs.get(ref);
  const ids = run ? askedBy(run) : [];
  // Newest first: the entry asked for last is the most likely to have a delivery under way.
  for (let to = ids.length; run && to > 0; to -= recordsMax) {
    const some = await records.get(run.tenant, ids.slice(Math.max(0, to - recordsMax), to));
    if (some.some(isClaimed)) return true;
  }
  return false;
}

const isClaimed = (record: MessageRecord | undefined): boolean => record?.state.kind === "claimed";
