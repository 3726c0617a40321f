/** A run of a newer build beside this one (ADR 27). */
import { expect } from "@jest/globals";
import { allShards, limits, ownFormat, type Run } from "@posthaste/domain";
import { anOwner, aTenant } from "../../builders/message.ts";
import { aResult, aRunId, aRunStart } from "../../builders/run.ts";
import { join, type RunsGuarantee, type RunsHarness, tryStart } from "./harness.ts";

/** Starts a run whose wait for an event ends now. */
async function startNewer({ ids, now, runs }: RunsHarness): Promise<Run> {
  const given = { tenant: aTenant, id: aRunId, root: ids.next(), now: now() };
  const wait = { kind: "wait", step: 1, event: "paid", deadline: now() } as const;
  const { run } = await runs.start(aTenant, aRunId, "new", (use) => {
    const write = aRunStart(use, given);
    return {
      ...write,
      run: {
        ...write.run,
        format: ownFormat + 1,
        state: { kind: "active", pending: [wait], notes: [] },
      },
      deliveries: write.deliveries.map((record) => ({
        ...record,
        message: { ...record.message, format: ownFormat + 1 },
      })),
    };
  });
  return run;
}

const isAway = { name: "StoreError", code: "unavailable" };

export function formats(it: RunsGuarantee): void {
  it("a run above this build's format returns nothing and does not change", async (harness) => {
    const { runs } = harness;
    const run = await startNewer(harness);

    await expect(runs.get(run)).rejects.toMatchObject(isAway);
    await expect(runs.byRoot(run.root)).rejects.toMatchObject(isAway);
    await expect(join(harness, run, [aResult(1)])).rejects.toMatchObject(isAway);
    await expect(tryStart(harness)).rejects.toMatchObject(isAway);
    expect(await runs.sweep(aTenant, harness.now() + 1_000, 10)).toBe(0);
  });

  it("a run above this build's format does not ring, and its delivery is not claimed", async (harness) => {
    const { root } = await startNewer(harness);
    await harness.advance(limits.ringAheadMs);

    expect(await harness.records.claim([root], anOwner)).toEqual([]);
    expect(await harness.alarms.ring(allShards, 10)).toEqual({ rung: [], more: new Set() });
    expect(await harness.alarms.next(allShards)).toBeUndefined();
  });
}
