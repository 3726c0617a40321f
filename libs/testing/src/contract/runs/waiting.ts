import { expect } from "@jest/globals";
import {
  allShards,
  awaiting,
  isActive,
  limits,
  type Run,
  runId,
  type RunRef,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import { anotherTenant, aTenant, newId } from "../../builders/message.ts";
import { aResult } from "../../builders/run.ts";
import { end, join, type RunsGuarantee, type RunsHarness, start } from "./harness.ts";

const event = "order.paid";

const wait = (harness: RunsHarness, run: Run, step: number, deadline: number, named = event) =>
  harness.runs.change(run, (seen) =>
    headIfChanged(isActive(seen) && awaiting(seen, { kind: "wait", step, event: named, deadline })),
  );

const waiters = async ({ runs }: RunsHarness, tenant = aTenant, named = event) => {
  const found = await runs.waiting(tenant, named, undefined, 100);
  return found.map(({ key }) => key);
};

async function rung({ alarms }: RunsHarness, shards = allShards): Promise<readonly string[]> {
  const { rung: all } = await alarms.ring(shards, 10, ["run"]);
  return all.flatMap((each) => (each.kind === "run" ? each.run.key : []));
}

export function waiting(it: RunsGuarantee): void {
  it("a run is found by its root", async (harness) => {
    const run = await start(harness);

    expect(await harness.runs.byRoot(run.root)).toEqual(run);
    expect(await harness.runs.byRoot(newId())).toBeUndefined();
  });

  it("runs that wait for an event are found by it, by their tenant, while they wait", async (harness) => {
    const later = harness.now() + 60_000;
    const [one, two, theirs] = [
      await start(harness, { id: runId("one") }),
      await start(harness, { id: runId("two") }),
      await start(harness, { tenant: anotherTenant }),
    ];
    expect(await waiters(harness)).toEqual([]);
    for (const each of [one, two, theirs]) await wait(harness, each, 1, later);
    await wait(harness, one, 2, later);
    await wait(harness, two, 2, later, "another");

    expect(await waiters(harness)).toEqual([one.key, two.key]);
    expect(await waiters(harness, anotherTenant)).toEqual([theirs.key]);
    expect(await waiters(harness, aTenant, "another")).toEqual([two.key]);

    await join(harness, one, [aResult(1)]);
    expect(await waiters(harness)).toEqual([one.key, two.key]);
    await join(harness, one, [aResult(2)]);
    await end(harness, two);
    expect(await waiters(harness)).toEqual([]);
    expect(await waiters(harness, aTenant, "another")).toEqual([]);
  });

  it("runs that wait for one event are read page by page, each once", async (harness) => {
    const runs: Run[] = [];
    for (const id of ["d", "b", "e", "a", "c"]) runs.push(await start(harness, { id: runId(id) }));
    for (const run of runs) await wait(harness, run, 1, harness.now() + 60_000);
    const read: RunRef[] = [];
    for (let pages = 0; pages < 3; pages++) {
      const page = await harness.runs.waiting(aTenant, event, read.at(-1), 2);
      expect(page.length).toBe(pages < 2 ? 2 : 1);
      read.push(...page);
    }

    expect(read.map(({ key }) => key).toSorted()).toEqual(runs.map(({ key }) => key).toSorted());
  });

  it("a run rings at the earliest deadline of its waits, and again after a while", async (harness) => {
    const at = harness.now() + 1_000;
    const run = await start(harness);
    await wait(harness, run, 1, at + 5_000);
    await wait(harness, run, 2, at);

    expect(await harness.alarms.next(allShards, ["run"])).toBe(at);
    expect(await rung(harness)).toEqual([]);
    await harness.advance(1_000);
    const others = allShards.filter((shard) => shard !== run.shard);
    expect(await rung(harness, others)).toEqual([]);
    expect(await rung(harness, [run.shard])).toEqual([run.key]);
    expect(await rung(harness)).toEqual([]);
    await harness.advance(limits.ringAheadMs);
    expect(await rung(harness)).toEqual([run.key]);
  });

  it("a run that no longer waits does not ring", async (harness) => {
    const run = await start(harness);
    await wait(harness, run, 1, harness.now() + 1_000);
    await join(harness, run, [aResult(1)]);
    expect(await harness.alarms.next(allShards, ["run"])).toBeUndefined();

    const other = await start(harness, { id: runId("other") });
    await wait(harness, other, 1, harness.now() + 1_000);
    await end(harness, other);
    await harness.advance(1_000);

    expect(await harness.alarms.next(allShards, ["run"])).toBeUndefined();
    expect(await rung(harness)).toEqual([]);
  });
}
