/** The contract of `RunLog`: lists of runs that `RunStore` has written. */
import { expect } from "@jest/globals";
import {
  type AttemptFact,
  cancelRun,
  dlqIdOf,
  failRun,
  type FailedRunFilter,
  finish,
  isActive,
  isFailed,
  limits,
  matchesFailedRun,
  matchesRun,
  type MessageId,
  messageId,
  newOrder,
  type Run,
  type RunFilter,
  runId,
  runKey,
  type RunState,
  shardOf,
  type TenantId,
  type ToldAttempt,
} from "@posthaste/domain";
import { headAlone, type Ids, type RunLog, type RunStore } from "@posthaste/ports";
import { anotherTenant, aPolicy, aTenant } from "../builders/message.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract, type Guarantee } from "./guarantee.ts";
import {
  drawnFilters,
  drawnForMs,
  drawnRun,
  failedRunFields,
  runFields,
} from "../builders/drawn.ts";
import { dice } from "../seeded-random.ts";
import { bytesOfThree, fatHeaders, readAll, readByBytes } from "./paging.ts";

export type RunLogHarness = Closable & {
  readonly runs: RunStore;
  readonly runLog: RunLog;
  readonly ids: Pick<Ids, "next">;
};

export function describeRunLog(name: string, open: () => Promise<RunLogHarness>): void {
  contract(`${name}: a log of runs`, open, {}, (it) => {
    listing(it);
    filtering(it);
    drawing(it);
    failing(it);
    reading(it);
    attempts(it);
  });
}

type Settings = {
  readonly tenant?: TenantId;
  readonly id?: string;
  readonly at?: number;
  readonly url?: string;
  readonly callerIp?: string;
  readonly labels?: readonly string[];
  readonly flowKey?: string;
  readonly headers?: Run["plan"]["headers"];
  readonly end?: "finish" | "cancel" | "fail";
  readonly endedAt?: number;
  readonly status?: number;
};

const url = "https://workflow.example/";
const end = epochStart + 60_000;

/** Stores a run and returns its final state. */
async function aRun({ runs, ids }: RunLogHarness, settings: Settings = {}): Promise<Run> {
  const { tenant = aTenant, at = epochStart, labels = [], flowKey } = settings;
  const root = ids.next();
  const id = runId(settings.id ?? root);
  const limits = { periodMs: 1_000, parallelism: 1 };
  const { run } = await runs.start(tenant, id, "new", ({ generation, after }) => {
    const fresh: Run = {
      ...{ key: runKey(tenant, id, generation), id, generation, root, tenant },
      dialect: "service",
      shard: shardOf(root),
      url: settings.url ?? url,
      callerIp: settings.callerIp ?? "10.0.0.1",
      createdAt: Math.max(at, after + 1),
      plan: {
        features: [],
        headers: settings.headers ?? [],
        policy: aPolicy({
          labels,
          ...(flowKey !== undefined && { flow: { key: flowKey, limits } }),
        }),
      },
      state: { kind: "active", pending: [], notes: [] },
      ...{ history: newOrder, bytes: 0, reached: 0, version: 1 },
    };
    const part = { name: "start", at, rank: 0, body: Uint8Array.of(1, 0xff) };
    return { run: fresh, parts: [part], deliveries: [] };
  });
  const { end: how, endedAt = end } = settings;
  return how ? ended(runs, run, how, endedAt, settings.status) : run;
}

async function ended(
  runs: RunStore,
  run: Run,
  how: "finish" | "cancel" | "fail",
  at: number,
  status: number | undefined,
): Promise<Run> {
  const changed = await runs.change(run, (now) => {
    if (!isActive(now)) throw new Error("it has ended");
    const next =
      how === "finish"
        ? finish(now, at)
        : how === "cancel"
          ? cancelRun(now, at)
          : failRun(
              now,
              { role: "start" },
              { reason: "non_retryable", ...(status !== undefined && { status }) },
              at,
            );
    if (!next) throw new Error("it cannot end so");
    const part = { name: "x", at, body: Uint8Array.of(2) };
    const parts = how === "fail" ? [part] : [];
    return { verdict: next, write: { run: next, parts, deliveries: [] } };
  });
  if (!changed) throw new Error("there is no such run");
  return changed;
}

const listed = ({ runLog }: RunLogHarness, filter: RunFilter = {}, limit = 100, tenant = aTenant) =>
  readAll((page) => runLog.list(tenant, filter, page), limit, "latestFirst");

const letters = ({ runLog }: RunLogHarness, filter: FailedRunFilter = {}, limit = 100) =>
  readAll((page) => runLog.failed(aTenant, filter, page), limit, "latestFirst");

function listing(it: Guarantee<RunLogHarness>): void {
  it("runs are listed newest first, page by page, without gap or repeat", async (harness) => {
    const runs: Run[] = [];
    // Two in each millisecond.
    for (let i = 0; i < 12; i++)
      runs.push(await aRun(harness, { at: epochStart + Math.floor(i / 2) }));

    for (const limit of [1, 5, 11, 12, 13])
      expect(await listed(harness, {}, limit)).toEqual(runs.toReversed());
  });

  it("a page of runs ends with the run that fills its bytes, and the next page follows it", async (harness) => {
    const runs: Run[] = [];
    for (let i = 0; i < 7; i++)
      runs.push(await aRun(harness, { at: epochStart + i, headers: fatHeaders, end: "fail" }));

    const all = await readByBytes((page) => harness.runLog.list(aTenant, {}, page), bytesOfThree);
    const failed = await readByBytes(
      (page) => harness.runLog.failed(aTenant, {}, page),
      bytesOfThree,
    );

    expect(all).toEqual({ items: runs.toReversed(), lengths: [3, 3, 1] });
    expect(failed.lengths).toEqual([3, 3, 1]);
    expect(new Set(failed.items.map(({ id }) => id))).toEqual(new Set(runs.map(({ id }) => id)));
  });

  it("a run is listed for its tenant alone, in its current state", async (harness) => {
    await aRun(harness, { tenant: anotherTenant });
    const run = await aRun(harness, { end: "finish" });

    expect(await listed(harness)).toEqual([run]);
  });

  it("a swept run is no longer listed", async (harness) => {
    await aRun(harness, { end: "fail", labels: ["a"], flowKey: "k" });

    await harness.runs.sweep(aTenant, end + 1, 10);

    expect(await listed(harness)).toEqual([]);
    expect(await listed(harness, { labels: ["a"] })).toEqual([]);
    expect(await letters(harness)).toEqual([]);
  });
}

function filtering(it: Guarantee<RunLogHarness>): void {
  it("runs are found by id and time together, and by their roots", async (harness) => {
    const first = await aRun(harness, { id: "again", end: "finish" });
    const second = await aRun(harness, { id: "again" });
    const { id, createdAt, root } = first;

    expect(await listed(harness, { id })).toEqual([second, first]);
    expect(await listed(harness, { runs: [{ id, createdAt }] })).toEqual([first]);
    expect(await listed(harness, { roots: [root, messageId("msg_none")] })).toEqual([first]);
  });
}

/** Drawn filters: each finds the matches of the whole list, whichever index it uses. */
function drawing(it: Guarantee<RunLogHarness>): void {
  const ends = ["finish", "cancel", "fail", undefined] as const;

  it("a list of runs has the runs that match all filters", async (harness) => {
    const chance = dice(1);
    for (let n = 0; n < 30; n++) {
      const how = chance.pick(ends);
      await aRun(harness, { ...drawnRun(chance, epochStart), ...(how && { end: how }) });
    }
    const whole = await listed(harness);

    for (const filter of drawnFilters(chance, runFields(chance, epochStart, whole))) {
      const right = whole.filter((run) => matchesRun(filter, run));
      const found = await listed(harness, filter, chance.integer(1, 40));
      expect([filter, rootsOf(found)]).toEqual([filter, rootsOf(right)]);
    }
  });

  it("a list of failed runs has the runs that match all filters", async (harness) => {
    const chance = dice(2);
    for (let n = 0; n < 30; n++) {
      const status = chance.pick([0, 404, 500]);
      await aRun(harness, {
        ...drawnRun(chance, epochStart - 1_000),
        ...{ end: "fail", endedAt: epochStart + chance.integer(0, drawnForMs) },
        ...(status > 0 && { status }),
      });
    }
    const whole = (await letters(harness)).filter(isFailed);

    for (const filter of drawnFilters(chance, failedRunFields(chance, epochStart, whole))) {
      const right = whole.filter((run) => matchesFailedRun(filter, run));
      const found = await letters(harness, filter, chance.integer(1, 40));
      expect([filter, rootsOf(found)]).toEqual([filter, rootsOf(right)]);
    }
  });
}

const rootsOf = (runs: readonly Run[]): readonly MessageId[] => runs.map(({ root }) => root);

function failing(it: Guarantee<RunLogHarness>): void {
  it("a failed run is a dead letter until the letter is removed", async (harness) => {
    await aRun(harness, { end: "cancel" });
    const kept = await aRun(harness, { end: "fail" });
    const gone = await aRun(harness, { end: "fail", endedAt: end + 1, labels: ["a"] });
    expect(await letters(harness, {}, 1)).toEqual([gone, kept]);
    expect(await letters(harness, { labels: ["a"] })).toEqual([gone]);
    expect(await letters(harness, { dlqIds: [dlqIdOf(kept.root, end)] })).toEqual([kept]);
    expect(await letters(harness, { from: end + 1 })).toEqual([gone]);
    const answered = await aRun(harness, { end: "fail", status: 500 });
    expect(await letters(harness, { statuses: [500] })).toEqual([answered]);
    expect(await letters(harness, { statuses: [0] })).toEqual([gone, kept]);

    const removing = (run: Run) => {
      if (run.state.kind !== "failed") throw new Error("it has failed");
      const state: RunState = { ...run.state, failure: { ...run.state.failure, inDlq: false } };
      const next = { ...run, state, version: run.version + 1 };
      return { verdict: undefined, write: headAlone(next) };
    };
    for (const run of [gone, answered]) await harness.runs.change(run, removing);

    expect(await letters(harness)).toEqual([kept]);
    expect(await listed(harness, { states: ["failed"] })).toHaveLength(3);
  });
}

function reading(it: Guarantee<RunLogHarness>): void {
  it("all parts of a run are read, byte for byte", async (harness) => {
    const active = await aRun(harness);
    const failed = await aRun(harness, { end: "fail" });
    const start = { name: "start", at: epochStart, rank: 0, body: Uint8Array.of(1, 0xff) };

    expect(await harness.runLog.parts(failed)).toEqual({
      parts: [start, { name: "x", at: end, body: Uint8Array.of(2) }],
    });
    expect(await harness.runLog.parts(active)).toEqual({ parts: [start] });
    expect(await harness.runLog.parts(failed, "start")).toMatchObject({ parts: [{ name: "x" }] });
  });

  it("parts are read some mebibytes at a time, each once, by their names", async (harness) => {
    const run = await aRun(harness);
    const large = new Uint8Array(limits.runReadBytesMax * 0.4);
    const names = ["n1", "n2", "n3", "n4", "n5"];
    for (const name of names.toReversed())
      await harness.runs.change(run, (seen) => {
        const next = { ...seen, version: seen.version + 1 };
        const part = { name, at: epochStart, body: large };
        return { verdict: undefined, write: { run: next, parts: [part], deliveries: [] } };
      });

    const read: string[] = [];
    const counts: number[] = [];
    let after: string | undefined;
    do {
      const { next, parts } = await harness.runLog.parts(run, after);
      read.push(...parts.map(({ name }) => name));
      counts.push(parts.length);
      after = next;
    } while (after !== undefined);

    expect(read).toEqual([...names, "start"]);
    expect(Math.max(...counts)).toBe(3);
  });
}

const anAttempt = (attempt: number, more: Partial<AttemptFact> = {}): AttemptFact => ({
  kind: "fact",
  id: messageId("msg_of_a_step"),
  attempt,
  startedAt: epochStart + attempt,
  endedAt: epochStart + attempt,
  ended: "retry",
  nextDeliveryAt: epochStart + attempt + 1,
  response: {
    status: 500,
    headers: [["X-A", "1"]],
    body: Uint8Array.of(attempt, 0xff),
    truncated: false,
  },
  ...more,
});

function attempts(it: Guarantee<RunLogHarness>): void {
  const told = ({ root }: Run, part: string, fact: AttemptFact): ToldAttempt => ({
    run: { root, part },
    fact,
  });

  it("attempts of a run are read in the order of time, each once, however often they were written", async (harness) => {
    const { runLog } = harness;
    const run = await aRun(harness);
    const other = await aRun(harness);
    const first = anAttempt(0);
    const second = anAttempt(1, { error: "it is away" });
    const unanswered = { ...anAttempt(2), ended: "failed" as const };

    await runLog.append([told(run, "s1", second), told(run, "s1", first)]);
    await runLog.append([told(run, "s1", first), told(run, "f", unanswered)]);

    expect(await runLog.attempts(other)).toEqual([]);
    expect(await runLog.attempts(run)).toEqual([
      { part: "s1", fact: first },
      { part: "s1", fact: second },
      { part: "f", fact: unanswered },
    ]);
  });

  it("the latest attempts of a delivery are kept, and the beginning of each answer", async (harness) => {
    const { runLog } = harness;
    const run = await aRun(harness);
    const large = { status: 500, headers: [], truncated: false };
    const body = new Uint8Array(limits.logResponseBytesMax + 1);

    for (let n = 0; n <= limits.runAttemptsMax; n++)
      await runLog.append([
        told(
          run,
          "start",
          anAttempt(n, { response: { ...large, body: n === 1 ? body : Uint8Array.of(n) } }),
        ),
      ]);

    const kept = await runLog.attempts(run);
    expect(kept.map(({ fact }) => fact.attempt)).toEqual(
      Array.from({ length: limits.runAttemptsMax }, (_, i) => i + 1),
    );
    expect(kept[0]?.fact.response).toMatchObject({ truncated: true });
    expect(kept[0]?.fact.response?.body).toHaveLength(limits.logResponseBytesMax);
  });

  it("attempts are removed with their run", async (harness) => {
    const { runLog, runs } = harness;
    const run = await aRun(harness, { end: "fail" });
    await runLog.append([told(run, "start", anAttempt(0))]);

    await runs.sweep(aTenant, end + 1, 10);

    expect(await runLog.attempts(run)).toEqual([]);
  });
}
