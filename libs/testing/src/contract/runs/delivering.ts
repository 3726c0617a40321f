import { hash } from "node:crypto";
import { expect } from "@jest/globals";
import {
  accept,
  allShards,
  type HistoryEntry,
  type InRun,
  limits,
  runId,
  runMessageId,
} from "@posthaste/domain";
import { type Briefing } from "@posthaste/ports";
import {
  aFlow,
  aMessage,
  anOwner,
  anotherTenant,
  aPolicy,
  aTenant,
  newId,
} from "../../builders/message.ts";
import { aPlan, aResult } from "../../builders/run.ts";
import {
  current,
  end,
  inRun,
  join,
  recordOf,
  start,
  text,
  type RunsHarness,
  type RunsGuarantee,
} from "./harness.ts";

export function reading(it: RunsGuarantee): void {
  it("parts are read back byte for byte, empty and binary ones too", async (harness) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const large = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256);
    const run = await start(harness, { body: bytes });
    await join(harness, run, [
      aPlan(1, new Uint8Array(0)),
      aPlan(2, large.subarray(1, 70_000)),
      aPlan(3, text("é\0\ud83d\ude00")),
    ]);

    const bodies = [bytes, new Uint8Array(0), large.slice(1, 70_000), text("é\0\ud83d\ude00")];
    const history = await harness.runs.history(await current(harness, run), 0);
    expect(history.map(({ body }) => Buffer.from(body).toString("hex"))).toEqual(
      bodies.map((body) => Buffer.from(body).toString("hex")),
    );
    expect((await harness.runs.part(run, "p1"))?.body).toEqual(new Uint8Array(0));
  });

  it("a part that the run does not have, or a part of another run, is not found", async (harness) => {
    const run = await start(harness);
    const other = await start(harness, { id: runId("other") });
    await join(harness, other, [aResult(1)]);

    expect(await harness.runs.part(run, "s1")).toBeUndefined();
    expect(await harness.runs.part(run, "e")).toBeUndefined();
    expect(await harness.runs.part(other, "s1")).toBeDefined();
  });

  it("a long history is read from a rank on, as far as it fits, and delivered whole", async (harness) => {
    const body = (n: number): Uint8Array => new Uint8Array(limits.runReadBytesMax * 0.4).fill(n);
    const run = await start(harness, { body: body(0) });
    for (let n = 1; n <= 6; n++) await join(harness, run, [aResult(n, body(n))]);

    const seen = await current(harness, run);
    const read: HistoryEntry[] = [];
    // Ends with the history.
    for (;;) {
      const some = await harness.runs.history(seen, read.length);
      if (some.length === 0) break;
      expect(some.length).toBeLessThanOrEqual(3);
      read.push(...some);
    }
    const asked = { run: inRun(run, "s6"), epoch: 1, from: 1 };
    const [small, briefing] = await harness.runs.brief([{ ...asked, from: 6 }, asked]);

    expect(read.map((entry) => entry.body[0])).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(withDigests(small)).toEqual({ rank: 6, entries: read.slice(6).map(withDigest) });
    expect(withDigests(briefing)).toEqual({ rank: 6, entries: read.slice(1).map(withDigest) });
  });

  it("the history is in the order of acceptance", async (harness) => {
    const run = await start(harness);
    await join(harness, run, [aPlan(1), aPlan(2), aPlan(3)]);
    for (const step of [2, 3, 1, 2]) await join(harness, run, [aResult(step)]);
    await join(harness, run, [aResult(4)]);

    const names = ["p1", "p2", "p3", "s2", "s3", "s1", "s4"];
    const history = await harness.runs.history(await current(harness, run), 0);
    expect(history.map(({ messageId }) => messageId)).toEqual([
      run.root,
      ...names.map((name) => runMessageId(run.root, name)),
    ]);
    for (const [i, name] of names.entries())
      expect((await harness.runs.part(run, name))?.rank).toBe(i + 1);
  });
}

/** Replaces bodies by digests: Jest reads each byte for a microsecond, and a long history has millions. */
const withDigest = ({ body, ...entry }: HistoryEntry) => ({ ...entry, body: hash("sha256", body) });

const withDigests = (briefing: Briefing | undefined) =>
  typeof briefing === "object"
    ? { ...briefing, entries: briefing.entries.map(withDigest) }
    : briefing;

export function briefing(it: RunsGuarantee): void {
  const brief = async ({ runs }: RunsHarness, asked: readonly [InRun, number?][]) => {
    const briefings = await runs.brief(asked.map(([run, epoch = 1]) => ({ run, epoch, from: 0 })));
    return briefings.map((each) =>
      typeof each === "string" ? each : each.entries.map(({ messageId }) => messageId),
    );
  };

  it("a delivery carries the history up to its own entry, whatever came later", async (harness) => {
    const run = await start(harness, { body: text("payload") });
    await join(harness, run, [aResult(1, text("one")), aPlan(2), aPlan(3)]);
    await join(harness, run, [aResult(3, text("three"))]);
    const names = ["start", "s1", "p2", "p3", "s3"];
    const ids = names.map((name) => runMessageId(run.root, name));

    const asked = names.map((name) => [inRun(run, name)] as [InRun]);
    expect(await brief(harness, asked)).toEqual(names.map((_, i) => ids.slice(0, i + 1)));
    const [first] = await harness.runs.brief([{ run: inRun(run, "s1"), epoch: 1, from: 0 }]);
    expect(first).toEqual({
      rank: 1,
      entries: [
        { messageId: run.root, body: text("payload") },
        { messageId: runMessageId(run.root, "s1"), body: text("one") },
      ],
    });
    const [rest] = await harness.runs.brief([{ run: inRun(run, "s3"), epoch: 1, from: 4 }]);
    expect(rest).toEqual({
      rank: 4,
      entries: [{ messageId: runMessageId(run.root, "s3"), body: text("three") }],
    });
  });

  it("nothing is delivered of ended or missing runs", async (harness) => {
    const ended = await start(harness);
    await end(harness, ended);
    const next = await start(harness);
    const unknown = { ...inRun(next, "start"), key: ended.key };
    const gone = { ...inRun(next, "start"), key: next.key, root: newId() };

    expect(
      await brief(harness, [
        [inRun(ended, "start")],
        [inRun(next, "start")],
        [unknown],
        [gone],
        [inRun(next, "s7")],
      ]),
    ).toEqual(["unwanted", [next.root], "unwanted", "unwanted", "unwanted"]);
  });

  it("an entry with consequences is delivered again only if it never was", async (harness) => {
    const run = await start(harness);
    await join(harness, run, [aResult(1)]);
    const last = [run.root, runMessageId(run.root, "s1")];

    expect(
      await brief(harness, [
        [inRun(run, "start"), 1],
        [inRun(run, "start"), 2],
        [inRun(run, "s1"), 1],
        [inRun(run, "s1"), 2],
      ]),
    ).toEqual([[run.root], "unwanted", last, last]);
  });

  it("an empty list of runs returns an empty list", async (harness) => {
    expect(await harness.runs.brief([])).toEqual([]);
  });
}

export function keepingRecords(it: RunsGuarantee): void {
  it("a delivery of a run is cancelled and found with its run, never as a message", async (harness) => {
    const run = await start(harness, { delayMs: 60_000 });
    const message = aMessage({ id: harness.ids.next(), now: harness.now() });
    await harness.records.insert([{ record: accept(message, harness.now()) }], "new");
    const before = await recordOf(harness, run, run.root);
    expect(before?.state.kind).toBe("held");
    const upTo = { id: harness.ids.next(), at: harness.now() };

    const canceled = await harness.records.cancel(aTenant, [run.root]);
    expect(canceled.map(({ kind }) => kind)).toEqual(["unknown"]);
    const walk = { upTo, foundMax: 1_000, lookedMax: 5_000 };
    expect((await harness.records.matching(aTenant, {}, walk)).ids).toEqual([message.id]);
    const { url } = run;
    expect((await harness.records.matching(aTenant, { urls: [url] }, walk)).ids).toEqual([]);
    expect(await recordOf(harness, run, run.root)).toEqual(before);
  });

  it("the remaining deliveries of a run are dropped with it, whatever they wait for, except running ones; a message never is", async (harness) => {
    const now = harness.now();
    const run = await start(harness);
    await join(harness, run, [aResult(1), aResult(2), aResult(3)]);
    const [, s1, s2, s3] = [run.root, "s1", "s2", "s3"].map((name) => runMessageId(run.root, name));
    if (!s1 || !s2 || !s3) throw new Error("they have ids");
    const message = aMessage({ id: harness.ids.next(), now });
    await harness.records.insert([{ record: accept(message, now) }], "new");
    await harness.records.claim([s1], anOwner);

    expect(await harness.records.drop(anotherTenant, [s2])).toEqual([]);
    const dropped = await harness.records.drop(aTenant, [run.root, s1, s2, message.id, s2]);
    expect(dropped.map(({ id }) => id).toSorted()).toEqual([run.root, s2].toSorted());
    expect(await harness.records.drop(aTenant, [run.root, s2])).toEqual([]);

    const kinds = [];
    for (const id of [run.root, s1, s2, s3, message.id])
      kinds.push((await recordOf(harness, run, id))?.state.kind);
    expect(kinds).toEqual(["canceled", "claimed", "canceled", "due", "due"]);
    expect(await harness.records.claim([run.root, s2], anOwner)).toEqual([]);
    expect(await harness.records.backlog(aTenant)).toBe(3);
    expect((await harness.alarms.ring(allShards, 10)).rung).toEqual([]);
  });

  it("a dropped delivery is in no line", async (harness) => {
    const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
    const features = ["WF_TriggerOnConfig"] as const;
    const plan = { features, headers: [], policy: aPolicy({ flow }) };
    const run = await start(harness, { plan });
    await join(harness, run, [aResult(1)]);
    const s1 = runMessageId(run.root, "s1");
    const inLine = async () => (await harness.flowLanes.heads(aFlow, 10)).map(({ id }) => id);
    expect(await inLine()).toEqual([run.root, s1]);

    const dropped = await harness.records.drop(aTenant, [s1]);

    expect(dropped.map((each) => [each.id, each.flow])).toEqual([[s1, aFlow]]);
    expect(await inLine()).toEqual([run.root]);
    expect(await harness.records.backlog(aTenant)).toBe(1);
  });
}
