import { expect } from "@jest/globals";
import { entriesBetween, partOf, runMessageId } from "@posthaste/domain";
import { aResult, ending } from "../../builders/run.ts";
import { current, inRun, join, recordOf, start, text, type RunsGuarantee } from "./harness.ts";

export function changing(it: RunsGuarantee): void {
  it("a decision without a write changes nothing", async (harness) => {
    const run = await start(harness);

    const seen = await harness.runs.change(run, (head) => ({ verdict: head }));
    expect(seen).toEqual(run);
    expect(await current(harness, run)).toEqual(run);
  });

  it("a step's entry and its delivery are written at once", async (harness) => {
    const run = await start(harness);
    expect(await join(harness, run, [aResult(1, text("one"))])).toBe(1);

    const next = await current(harness, run);
    expect(next).toMatchObject({ version: 2, reached: 1, history: { length: 2 } });
    expect(await harness.runs.part(run, "s1")).toMatchObject({ body: text("one"), rank: 1 });
    const record = await recordOf(harness, run, runMessageId(run.root, "s1"));
    expect(record?.message.run).toEqual(inRun(run, "s1"));
  });

  it("each of many changes at once is decided on the head that the one before left", async (harness) => {
    const run = await start(harness);
    const steps = Array.from({ length: 30 }, (_, i) => i + 1);
    const asked = [...steps, ...steps.toReversed()];
    await Promise.all(asked.map((step) => join(harness, run, [aResult(step, text(`${step}`))])));

    const next = await current(harness, run);
    expect(next).toMatchObject({ reached: 30, version: 31, history: { length: 31 } });
    const keys = entriesBetween(next.history, 0, 30);
    expect(new Set(keys.map(partOf)).size).toBe(31);
    const history = await harness.runs.history(next, 0);
    expect(history.map(({ messageId }) => messageId)).toEqual([
      run.root,
      ...keys.slice(1).map((key) => runMessageId(run.root, partOf(key))),
    ]);
    expect(history.slice(1).map(({ body }) => new TextDecoder().decode(body))).toEqual(
      keys.slice(1).map((key) => partOf(key).slice(1)),
    );
  });

  it("one of many reports of a step at once is accepted, and its caller gets that answer", async (harness) => {
    const run = await start(harness);
    for (const step of [1, 2, 3]) {
      const fresh = await Promise.all(
        Array.from({ length: 20 }, (_, i) => join(harness, run, [aResult(step, text(`${i}`))])),
      );

      expect(fresh.filter((count) => count === 1)).toHaveLength(1);
      const part = await harness.runs.part(run, `s${step}`);
      expect(new TextDecoder().decode(part?.body)).toBe(`${fresh.indexOf(1)}`);
      expect(part?.rank).toBe(step);
    }
  });

  it("of many ends at once one is the end", async (harness) => {
    const run = await start(harness);
    const at = harness.now();
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        harness.runs.change(run, (seen) => ending(seen, at + i)),
      ),
    );

    const ended = await current(harness, run);
    expect(ended).toMatchObject({ version: 2, state: { kind: "canceled" } });
    expect(await join(harness, run, [aResult(1)])).toBe("ended");
    expect(await current(harness, run)).toEqual(ended);
    expect(await harness.runs.part(run, "s1")).toBeUndefined();
  });

  it("a part that is added after the end of a run is no entry of its history", async (harness) => {
    const run = await start(harness);
    await join(harness, run, [aResult(1, text("one"))]);
    await harness.runs.change(run, (seen) => ending(seen, harness.now()));
    const ended = await current(harness, run);
    const late = { name: "s2", at: 5, body: text("late") };
    await harness.runs.change(run, (seen) => ({
      verdict: true,
      write: { run: { ...seen, version: seen.version + 1 }, parts: [late], deliveries: [] },
    }));

    const next = await current(harness, run);
    expect(next).toEqual({ ...ended, version: ended.version + 1 });
    expect(await harness.runs.part(run, "s2")).toEqual(late);
    const history = await harness.runs.history(next, 1);
    expect(history.map(({ messageId }) => messageId)).toEqual([runMessageId(run.root, "s1")]);
  });
}
