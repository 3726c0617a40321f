import { expect } from "@jest/globals";
import {
  allShards,
  awaiting,
  type EntryDelivery,
  failRun,
  isActive,
  noted,
  type Pending,
  resumedRun,
  type Run,
  type RunId,
  runId,
  type RunIn,
  runKey,
  runMessageId,
  type RunPart,
  shardOf,
  withHeir,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import { anotherTenant, aPolicy, aTenant } from "../../builders/message.ts";
import { aPlan, aResult } from "../../builders/run.ts";
import { current, end, inRun, join, type RunsGuarantee, type RunsHarness } from "./harness.ts";
import { start, text } from "./harness.ts";

const part = (name: string, said: string): RunPart => ({ name, at: 5, body: text(said) });

/** Makes a run wait, with the part that says how. */
const pend = (harness: RunsHarness, run: Run, pending: Pending, kept: RunPart) =>
  harness.runs.change(run, (seen) => {
    const next = isActive(seen) && awaiting(seen, pending);
    return next
      ? { verdict: true, write: { run: next, parts: [kept], deliveries: [] } }
      : { verdict: false };
  });

/** Notes an event that no step waits for yet. */
const note = (harness: RunsHarness, run: Run, said: string, name?: string) =>
  harness.runs.change(run, (seen) => {
    const kept = part(name ?? `n${seen.version}`, said);
    const next = isActive(seen) && noted(seen, { event: "early", part: kept.name });
    return next
      ? { verdict: true, write: { run: next, parts: [kept], deliveries: [] } }
      : { verdict: false };
  });

async function failed(harness: RunsHarness, run: Run): Promise<RunIn<"failed">> {
  const ended = await harness.runs.change(run, (seen) => {
    const next = failRun(
      seen,
      { role: "plan", step: 2 },
      { reason: "retries_exhausted" },
      harness.now(),
    );
    return next
      ? { verdict: next, write: { run: next, parts: [part("x", "no")], deliveries: [] } }
      : { verdict: undefined };
  });
  if (!ended) throw new Error(`${run.key} did not fail`);
  return ended;
}

/** Stores a failed run whose steps 2 and 3 are a group: 2 is open, 3 is done, and 4 and 5 wait. */
async function aFailedRun(harness: RunsHarness, id = runId("failed")): Promise<RunIn<"failed">> {
  const run = await start(harness, { id, body: text("payload") });
  await join(harness, run, [aResult(1, text("one"))]);
  await join(harness, run, [aPlan(2), aPlan(3)]);
  await join(harness, run, [aResult(3, text("three"))]);
  await pend(harness, run, { kind: "call", step: 4, isAnswered: false }, part("c4", "call"));
  const deadline = harness.now() + 60_000;
  await pend(harness, run, { kind: "wait", step: 5, event: "e", deadline }, part("w5", "wait"));
  return failed(harness, run);
}

function resume(
  { ids, now, runs }: RunsHarness,
  of: RunIn<"failed">,
  { id = runId("resumed"), names = ["c4"], deadline = now() + 1_000 } = {},
) {
  const root = ids.next();
  return runs.resume(of.tenant, id, { of, names }, ({ after, generation }) => {
    const use = {
      ...{ id, generation, root, callerIp: of.callerIp, plan: of.plan },
      key: runKey(of.tenant, id, generation),
      shard: shardOf(root),
      createdAt: Math.max(now(), after + 1),
      deadlines: new Map([[5, deadline]]),
    };
    return { run: resumedRun(of, use, now()), parts: [part("w5", "anew")], deliveries: [] };
  });
}

async function resumed(...asked: Parameters<typeof resume>): Promise<Run> {
  const started = await resume(...asked);
  if (started === "gone" || started.kind !== "started") throw new Error("was not resumed");
  return started.run;
}

export function resuming(it: RunsGuarantee): void {
  const names = ["s1", "p2", "p3", "s3"];

  it("a resumed run has the entries of the failed one, under its own ids", async (harness) => {
    const of = await aFailedRun(harness);
    const run = await resumed(harness, of);

    const bodies = ["payload", "one", "", "", "three"].map(text);
    const ids = [run.root, ...names.map((name) => runMessageId(run.root, name))];
    const history = await harness.runs.history(await current(harness, run), 0);
    expect(history).toEqual(ids.map((messageId, i) => ({ messageId, body: bodies[i] })));
    const [briefing] = await harness.runs.brief([{ run: inRun(run, "p2"), epoch: 1, from: 1 }]);
    expect(briefing).toMatchObject({ rank: 2, entries: history.slice(1, 3) });
    expect(await harness.runs.get({ tenant: aTenant, id: run.id })).toMatchObject({
      from: of.key,
      aliases: [of.id],
      reached: 5,
      state: { kind: "active" },
    });
  });

  it("a resumed run has the requested parts, and no others", async (harness) => {
    const of = await aFailedRun(harness);
    const run = await resumed(harness, of);

    expect((await harness.runs.part(run, "c4"))?.body).toEqual(text("call"));
    expect((await harness.runs.part(run, "w5"))?.body).toEqual(text("anew"));
    expect(await harness.runs.part(run, "x")).toBeUndefined();
    expect((await harness.runs.part(of, "w5"))?.body).toEqual(text("wait"));
  });

  it("a resumed run has the log of finished steps, and the requests of waiting ones", async (harness) => {
    const of = await aFailedRun(harness);
    // As if left by steps that are done since.
    const done = ["c1", "v1", "i1", "w3", "c3", "i4", "v5", "n1", "a1"];
    await harness.runs.change(of, (seen) => {
      const parts = done.map((name) => part(name, name));
      const run = { ...seen, version: seen.version + 1 };
      return { verdict: true, write: { run, parts, deliveries: [] } };
    });
    const run = await resumed(harness, of);

    const found = await Promise.all(done.map((name) => harness.runs.part(run, name)));
    expect(found.flatMap((each) => each?.name ?? [])).toEqual(["c1", "v1", "i1", "w3", "c3"]);
    expect((await harness.runs.part(run, "w5"))?.body).toEqual(text("anew"));
    expect((await harness.runs.part(run, "c3"))?.body).toEqual(text("c3"));
  });

  it("a resumed run is separate: its changes and the end of the failed run do not conflict", async (harness) => {
    const of = await aFailedRun(harness);
    const run = await resumed(harness, of);
    await join(harness, run, [aResult(2, text("two"))]);
    await harness.advance(1_000);
    expect(await harness.runs.sweep(aTenant, harness.now(), 10)).toBe(1);

    expect(await harness.runs.history(await current(harness, run), 0)).toHaveLength(6);
    expect((await harness.runs.part(run, "s2"))?.body).toEqual(text("two"));
  });

  it("a resumed run has the waits of the failed run", async (harness) => {
    const of = await aFailedRun(harness);
    expect(await harness.runs.waiting(aTenant, "e", undefined, 10)).toEqual([]);
    const { key, root } = await resumed(harness, of);

    expect(await harness.runs.waiting(aTenant, "e", undefined, 10)).toEqual([{ key, root }]);
    await harness.advance(2_000);
    const { rung } = await harness.alarms.ring(allShards, 10, ["run"]);
    expect(rung).toEqual([expect.objectContaining({ kind: "run", run: { key, root } })]);
  });

  it("a run that was swept, in part or whole, is not resumed", async (harness) => {
    const of = await aFailedRun(harness);
    expect(await resume(harness, of, { names: ["c4", "c9"] })).toBe("gone");
    await harness.advance(1_000);
    await harness.runs.sweep(aTenant, harness.now(), 10);
    expect(await resume(harness, of)).toBe("gone");

    expect(await harness.runs.get({ tenant: aTenant, id: runId("resumed") })).toBeUndefined();
  });

  it("no run is resumed under the id of an active run", async (harness) => {
    const of = await aFailedRun(harness);
    const active = await start(harness, { id: runId("resumed") });

    expect(await resume(harness, of)).toEqual({ kind: "known", run: active });
    const history = await harness.runs.history(await current(harness, active), 0);
    expect(history).toHaveLength(1);
  });

  it("a run may be resumed many times, one after the other", async (harness) => {
    const of = await aFailedRun(harness);
    const roots: string[] = [];
    for (const id of ["a", "b", "c"].map(runId)) {
      const run = await resumed(harness, of, { id });
      roots.push(run.root);
      expect(await harness.runs.history(run, 0)).toHaveLength(5);
    }
    expect(new Set(roots).size).toBe(3);
  });

  it("the newest run, an active one first, is found by the ids of the runs that it resumes", async (harness) => {
    const byAlias = async (id: RunId, tenant = aTenant) =>
      (await harness.runs.byAlias(tenant, id))?.id;
    const of = await aFailedRun(harness);
    expect(await byAlias(of.id)).toBeUndefined();
    const first = await resumed(harness, of, { id: runId("first") });
    await harness.advance(10);
    const second = await resumed(harness, of, { id: runId("second") });

    expect(await byAlias(of.id)).toBe(second.id);
    expect(await byAlias(of.id, anotherTenant)).toBeUndefined();
    await end(harness, second);
    expect(await byAlias(of.id)).toBe(first.id);
    await harness.advance(10);
    const third = await resumed(harness, await failed(harness, first), { id: runId("third") });
    expect([await byAlias(of.id), await byAlias(first.id)]).toEqual([third.id, third.id]);
    await failed(harness, third);
    expect([await byAlias(of.id), await byAlias(first.id)]).toEqual([third.id, third.id]);
  });

  it("an event of a resumed run replaces no earlier event", async (harness) => {
    const { runs } = harness;
    const run = await start(harness);
    for (const said of ["first", "second"]) await note(harness, run, said);
    const of = await failed(harness, run);
    const names = of.state.notes.map(({ part: name }) => name);
    const next = await resumed(harness, of, { names });
    for (const said of ["third", "fourth", "fifth"]) await note(harness, next, said);

    const seen = await current(harness, next);
    const notes = isActive(seen) ? seen.state.notes : [];
    const bodies = await Promise.all(notes.map(({ part: name }) => runs.part(next, name)));
    expect(bodies.map((each) => new TextDecoder().decode(each?.body))).toEqual([
      "first",
      "second",
      "third",
      "fourth",
      "fifth",
    ]);
  });

  it("a change that repeats the name of a part fails", async (harness) => {
    const run = await start(harness);
    await note(harness, run, "first");
    const before = await current(harness, run);

    await expect(note(harness, run, "second", "n1")).rejects.toThrow();

    expect(await current(harness, run)).toEqual(before);
    expect((await harness.runs.part(run, "n1"))?.body).toEqual(text("first"));
    await note(harness, run, "third");
    expect((await current(harness, run)).version).toBe(before.version + 1);
  });

  it("the settings of a delivery are kept with its entry", async (harness) => {
    const sent: EntryDelivery = {
      ...{ url: "https://other.example/", method: "PUT", notBefore: 7, callerIp: "::1", hop: 2 },
      headers: [["X-Own", "é"]],
      policy: aPolicy(),
    };
    const run = await start(harness);
    await harness.runs.change(run, (seen) => {
      const parts = [{ name: "c1", at: 1, body: text(""), sent }];
      return { verdict: true, write: { run: { ...seen, version: 2 }, parts, deliveries: [] } };
    });

    expect(await harness.runs.part(run, "c1")).toMatchObject({ sent });
    expect(await harness.runs.part(run, "start")).not.toHaveProperty("sent");
    expect((await harness.runs.get(run))?.version).toBe(2);
  });

  it("a run remembers the runs that wait for its end", async (harness) => {
    const run = await start(harness);
    const { id, key, root, url, createdAt } = await start(harness, { id: runId("parent") });
    const heir = { id, key, root, url, createdAt, step: 3 };
    await harness.runs.change(run, (seen) => headIfChanged(isActive(seen) && withHeir(seen, heir)));
    await end(harness, run);

    expect(await current(harness, run)).toMatchObject({
      heirs: [heir],
      state: { kind: "canceled", answerBy: expect.any(Number) as unknown },
    });
  });
}
