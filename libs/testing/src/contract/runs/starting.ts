import { expect } from "@jest/globals";
import { runId } from "@posthaste/domain";
import { anotherTenant, aTenant, newId } from "../../builders/message.ts";
import { aResult, aRunId, ending } from "../../builders/run.ts";
import {
  current,
  end,
  inRun,
  join,
  recordOf,
  start,
  text,
  tryStart,
  type RunsGuarantee,
} from "./harness.ts";

export function starting(it: RunsGuarantee): void {
  it("a start makes head, first entry and first delivery at once", async (harness) => {
    const body = text('{"a":1}');
    const run = await start(harness, { body });

    expect(await harness.runs.get({ tenant: aTenant, id: aRunId })).toEqual(run);
    expect(await harness.runs.part(run, "start")).toEqual({
      name: "start",
      at: harness.now(),
      body,
      rank: 0,
    });
    expect(await harness.runs.history(run, 0)).toEqual([{ messageId: run.root, body }]);
    const record = await recordOf(harness, run, run.root);
    expect(record?.message).toMatchObject({ id: run.root, run: inRun(run, "start") });
    expect(record?.state.kind).toBe("due");
  });

  it("of many starts of one id at once one starts the run, and all return it", async (harness) => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => tryStart(harness)));

    expect(outcomes.filter(({ kind }) => kind === "started")).toHaveLength(1);
    const roots = new Set(outcomes.map(({ run: { root } }) => root));
    expect(roots.size).toBe(1);
    const run = await harness.runs.get({ tenant: aTenant, id: aRunId });
    expect(run).toMatchObject({ generation: 1, root: [...roots][0] });
    expect(await harness.records.backlog(aTenant)).toBe(1);
  });

  it("a start of an active id returns its run, and changes nothing", async (harness) => {
    const run = await start(harness);
    await join(harness, run, [aResult(1)]);
    const before = await current(harness, run);

    expect(await tryStart(harness)).toEqual({ kind: "known", run: before });
    expect(await current(harness, run)).toEqual(before);
  });

  it("an id is free again after the end of its run: the next use, and a later time", async (harness) => {
    const first = await start(harness, { body: text("1") });
    await end(harness, first);
    const second = await start(harness, { body: text("2") });
    await end(harness, second);
    const third = await start(harness, { body: text("3") });

    expect([first, second, third].map(({ generation }) => generation)).toEqual([1, 2, 3]);
    expect(second.createdAt).toBeGreaterThan(first.createdAt);
    expect(third.createdAt).toBeGreaterThan(second.createdAt);
    expect((await harness.runs.part(first, "start"))?.body).toEqual(text("1"));
    expect((await harness.runs.part(third, "start"))?.body).toEqual(text("3"));
  });

  it("a root has one run, even after that run's end", async (harness) => {
    const first = await start(harness, { body: text("1") });
    const { root } = first;
    await end(harness, first);
    const ended = await current(harness, first);

    const given = { root, body: text("2") };
    expect(await tryStart(harness, given)).toEqual({ kind: "known", run: ended });
    expect(await tryStart(harness, { ...given, id: runId("another") })).toEqual({
      kind: "known",
      run: ended,
    });
    expect((await harness.runs.part(first, "start"))?.body).toEqual(text("1"));
    expect(await harness.runs.get({ tenant: aTenant, id: runId("another") })).toBeUndefined();
  });

  it("many starts at the end of a run make one next use", async (harness) => {
    const first = await start(harness);
    const [, ...outcomes] = await Promise.all([
      end(harness, first),
      ...Array.from({ length: 20 }, () => tryStart(harness)),
    ]);

    const after = await tryStart(harness);
    const started = [...outcomes, after].filter(({ kind }) => kind === "started");
    expect(started.map(({ run: { generation } }) => generation)).toEqual([2]);
  });
}

export function addressing(it: RunsGuarantee): void {
  it("id and time address exactly one use of the id", async (harness) => {
    const address = { tenant: aTenant, id: aRunId };
    const first = await start(harness);
    await end(harness, first);
    const second = await start(harness);

    expect((await harness.runs.get(address))?.root).toBe(second.root);
    for (const { createdAt, root } of [first, second])
      expect((await harness.runs.get({ ...address, createdAt }))?.root).toBe(root);
    expect(await harness.runs.get({ ...address, createdAt: second.createdAt + 1 })).toBeUndefined();
    const asked = { ...address, createdAt: first.createdAt };
    expect(await harness.runs.change(asked, ({ root }) => ({ verdict: root }))).toBe(first.root);
  });

  it("a key with another root is no run", async (harness) => {
    const { key } = await start(harness);

    expect(await harness.runs.get({ key, root: newId() })).toBeUndefined();
    expect(
      await harness.runs.change({ key, root: newId() }, () => ({ verdict: "decided" })),
    ).toBeUndefined();
  });

  it("another tenant's run is unknown, and its id is free", async (harness) => {
    const run = await start(harness);
    const theirs = { tenant: anotherTenant, id: run.id };

    expect(await harness.runs.get(theirs)).toBeUndefined();
    expect(await harness.runs.get({ ...theirs, createdAt: run.createdAt })).toBeUndefined();
    expect(
      await harness.runs.change(theirs, (seen) => ending(seen, harness.now())),
    ).toBeUndefined();
    const other = await start(harness, { tenant: anotherTenant });
    await end(harness, other);
    expect(await harness.runs.get(run)).toEqual(run);
  });
}
