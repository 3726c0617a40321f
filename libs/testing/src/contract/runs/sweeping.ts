import { expect } from "@jest/globals";
import { type Run, runId } from "@posthaste/domain";
import { anotherTenant, aTenant } from "../../builders/message.ts";
import { aResult } from "../../builders/run.ts";
import { end, join, start, text, tryStart, type RunsGuarantee } from "./harness.ts";

export function sweeping(it: RunsGuarantee): void {
  const ids = ["a", "b", "c", "d"].map(runId);

  it("runs that ended long ago are removed with their parts, and no others", async (harness) => {
    const [old, recent, active, theirs] = [
      await start(harness, { id: runId("old") }),
      await start(harness, { id: runId("recent") }),
      await start(harness, { id: runId("active") }),
      await start(harness, { tenant: anotherTenant }),
    ];
    await join(harness, old, [aResult(1)]);
    for (const each of [old, theirs]) await end(harness, each);
    await harness.advance(1_000);
    const before = harness.now();
    await end(harness, recent);

    expect(await harness.runs.sweep(aTenant, before, 100)).toBe(1);
    expect(await harness.runs.get(old)).toBeUndefined();
    expect(await harness.runs.part(old, "start")).toBeUndefined();
    expect(await harness.runs.part(old, "s1")).toBeUndefined();
    for (const each of [recent, active, theirs]) {
      expect(await harness.runs.get(each)).toBeDefined();
      expect(await harness.runs.part(each, "start")).toBeDefined();
    }
    expect(await harness.runs.sweep(aTenant, before, 100)).toBe(0);
  });

  it("a sweep removes no more than its limit", async (harness) => {
    const runs: Run[] = [];
    for (const id of ids) runs.push(await start(harness, { id }));
    for (const run of runs) await end(harness, run);
    await harness.advance(1_000);
    const left = async (): Promise<number> => {
      const found = await Promise.all(runs.map((run) => harness.runs.get(run)));
      return found.filter(Boolean).length;
    };

    expect(await harness.runs.sweep(aTenant, harness.now(), 3)).toBe(3);
    expect(await left()).toBe(1);
    expect(await harness.runs.sweep(aTenant, harness.now(), 3)).toBe(1);
    expect(await left()).toBe(0);
  });

  it("many starts beside a sweep of the earlier use make one next use", async (harness) => {
    const first = await start(harness);
    await end(harness, first);
    await harness.advance(1_000);
    const before = harness.now();
    const starts = (count: number) => Array.from({ length: count }, () => tryStart(harness));
    const [, ...outcomes] = await Promise.all([
      harness.runs.sweep(aTenant, before, 100),
      ...starts(25),
      harness.runs.sweep(aTenant, before, 100),
      ...starts(25),
    ]);

    const started = outcomes.flatMap((each) =>
      typeof each === "object" && each.kind === "started" ? each.run : [],
    );
    expect(started).toHaveLength(1);
    expect(started[0]?.createdAt).toBeGreaterThan(first.createdAt);
    expect(await harness.runs.get({ tenant: aTenant, id: first.id })).toEqual(started[0]);
  });

  it("the id of a swept run starts anew", async (harness) => {
    const first = await start(harness);
    await end(harness, first);
    await harness.advance(1_000);
    await harness.runs.sweep(aTenant, harness.now(), 100);
    const second = await start(harness, { body: text("anew") });

    expect(second.createdAt).toBeGreaterThan(first.createdAt);
    expect(await harness.runs.get(first)).toBeUndefined();
    expect((await harness.runs.part(second, "start"))?.body).toEqual(text("anew"));
    expect(await harness.runs.part(first, "start")).toBeUndefined();
  });
}
