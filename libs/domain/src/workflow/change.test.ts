import { describe, expect, it } from "@jest/globals";
import { aRun, epochStart, newId } from "@posthaste/testing";
import * as fc from "fast-check";
import { runGroupMax, runStepsMax } from "../shared/limits.ts";
import {
  adopt,
  append,
  awaiting,
  callAnswered,
  cancelRun,
  failRun,
  finish,
  hasTakenEffect,
  wantedOf,
} from "./change.ts";
import { partOf } from "./part-key.ts";
import { type DeliveryKey, entriesBetween, type StepKey } from "./order.ts";
import { type Pending, type Run, type RunIn } from "./run.ts";

const result = (step: number): StepKey => ({ role: "result", step });
const plan = (step: number): StepKey => ({ role: "plan", step });
const plans = (from: number, to: number): StepKey[] =>
  Array.from({ length: to - from + 1 }, (_, i) => plan(from + i));
const call = (step: number): Pending => ({ kind: "call", step, isAnswered: false });
const wait = (step: number): Pending => ({ kind: "wait", step, event: "e", deadline: epochStart });

const namesOf = ({ history }: Run): string =>
  entriesBetween(history, 1, history.length).map(partOf).join(" ");

function aRunAfter(...changes: readonly (readonly StepKey[] | Pending)[]): RunIn<"active"> {
  let run = aRun();
  for (const change of changes) {
    const next = "kind" in change ? awaiting(run, change) : appended(run, change);
    if (!next) throw new Error("the run does not take it");
    run = next;
  }
  return run;
}

function appended(run: RunIn<"active">, keys: readonly StepKey[]): RunIn<"active"> {
  const done = append(run, keys);
  if (done.kind === "refused") throw new Error(done.text);
  return done.run;
}

const failure = { reason: "retries_exhausted", error: "it said no", status: 500 } as const;

describe("steps that join a run", () => {
  it("are accepted in their order, in one version", () => {
    const run = aRun();
    const done = append(run, [plan(1), plan(2), plan(3)]);

    expect(done).toMatchObject({ kind: "appended", fresh: [plan(1), plan(2), plan(3)] });
    const next = appended(run, [plan(1), plan(2), plan(3)]);
    expect(next).toMatchObject({ version: run.version + 1, reached: 3 });
    expect(namesOf(next)).toBe("p1 p2 p3");
  });

  it("that it has already change nothing", () => {
    const run = aRunAfter([plan(1), plan(2)], [result(2)]);

    expect(append(run, [result(2), plan(1)])).toEqual({ kind: "appended", run, fresh: [] });
  });

  it("of one key: the first counts, of one batch and of several", () => {
    const run = aRunAfter([result(1)]);
    const done = append(run, [result(1), result(2), result(2), result(3)]);

    expect(done).toMatchObject({ fresh: [result(2), result(3)] });
    expect(namesOf(appended(run, [result(1), result(2), result(2), result(3)]))).toBe("s1 s2 s3");
  });

  it("are in its history once each, however often and in whatever order they come", () => {
    const key = fc.record({
      role: fc.constantFrom("plan" as const, "result" as const),
      step: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(key, { maxLength: 5 })), (given) => {
        const run = given.reduce(appended, aRun());

        const firsts = [...new Set(given.flat().map(partOf))];
        expect(namesOf(run)).toBe(firsts.join(" "));
        expect(run.reached).toBe(Math.max(0, ...given.flat().map(({ step }) => step)));
        expect(given.reduce(appended, run)).toBe(run);
      }),
    );
  });

  it("beyond the number of steps of a run are refused, with all that came with them", () => {
    const run = aRun();

    expect(append(run, [result(runStepsMax)]).kind).toBe("appended");
    expect(append(run, [result(1), result(runStepsMax + 1)])).toMatchObject({
      kind: "refused",
      text: expect.stringContaining(String(runStepsMax)),
    });
  });

  it("of a group beyond its size are refused, and repeated ones do not count", () => {
    const run = aRun();

    expect(append(run, plans(1, runGroupMax)).kind).toBe("appended");
    expect(append(run, plans(1, runGroupMax + 1))).toMatchObject({
      kind: "refused",
      text: expect.stringContaining(String(runGroupMax)),
    });
    const some = aRunAfter(plans(1, 10));
    expect(append(some, plans(1, runGroupMax + 10)).kind).toBe("appended");
  });

  it("end the wait of the step; a plan does not", () => {
    const run = aRunAfter(call(1), wait(2), call(3));

    expect(appended(run, [result(2), plan(3)]).state.pending).toEqual([call(1), call(3)]);
  });
});

describe("the wait of a step", () => {
  it("is kept once for each step, and not for one that is done", () => {
    const run = aRunAfter(call(1), [result(2)]);

    expect(run).toMatchObject({ reached: 2, state: { pending: [call(1)] } });
    expect(awaiting(run, wait(1))).toBeUndefined();
    expect(awaiting(run, wait(2))).toBeUndefined();
    expect(awaiting(run, wait(3))?.state.pending).toEqual([call(1), wait(3)]);
  });

  it("a call is answered once, while its run waits for it", () => {
    const run = aRunAfter(call(1), wait(2));
    const answered = callAnswered(run, 1);

    expect(answered?.state.pending).toEqual([{ ...call(1), isAnswered: true }, wait(2)]);
    expect(answered && callAnswered(answered, 1)).toBeUndefined();
    expect([2, 3].map((step) => callAnswered(run, step))).toEqual([undefined, undefined]);
    expect(callAnswered(appended(run, [result(1)]), 1)).toBeUndefined();
    expect(callAnswered(cancelRun(run, epochStart), 1)).toBeUndefined();
  });
});

const start: DeliveryKey = { role: "start" };
const calling: DeliveryKey = { role: "call", step: 1 };
const answering: DeliveryKey = { role: "answer", step: 1 };

describe("a delivery has been answered", () => {
  it.each<[string, DeliveryKey, boolean, RunIn<"active">]>([
    ["a start that nothing followed", start, false, aRunAfter()],
    ["a start with a result", start, true, aRunAfter([result(1)])],
    ["a start with a plan", start, true, aRunAfter([plan(1), plan(2)])],
    ["a start whose step waits", start, true, aRunAfter(wait(1))],
    ["the last result", result(1), false, aRunAfter([result(1)])],
    ["a result with a next one", result(1), true, aRunAfter([result(1)], [result(2)])],
    ["a result whose next step calls", result(1), true, aRunAfter([result(1)], call(2))],
    ["a plan without its result", plan(1), false, aRunAfter([plan(1), plan(2)], [result(2)])],
    ["a plan with its result", plan(1), true, aRunAfter([plan(1), plan(2)], [result(1)])],
    ["a plan whose step waits", plan(1), true, aRunAfter([plan(1), plan(2)], wait(1))],
    [
      "a result of a group that the run has not left",
      result(1),
      false,
      aRunAfter([plan(1), plan(2)], [result(1)], [result(2)]),
    ],
    [
      "a result of a group that the run has left",
      result(1),
      true,
      aRunAfter([plan(1), plan(2)], [result(2)], [result(1)], [result(3)]),
    ],
    ["a call that is made", calling, false, aRunAfter(call(1))],
    ["a call that was answered", calling, true, callAnswered(aRunAfter(call(1)), 1) ?? aRun()],
    ["a call whose step is done", calling, true, aRunAfter(call(1), [result(1)])],
    ["an answer that nothing followed", answering, false, aRunAfter(call(1))],
    ["an answer that became the result", answering, true, aRunAfter(call(1), [result(1)])],
  ])("%s", (_, key, is, run) => {
    expect(hasTakenEffect(run, key)).toBe(is);
    // The entries that the delivery has caused show that it succeeded, so a late failure fails no run.
    expect(failRun(run, key, failure, epochStart) === undefined).toBe(is);
    const inRun = { part: partOf(key), root: run.root };
    expect(wantedOf(run, inRun, 2) === "unwanted").toBe(is);
    if (key.role !== "answer" && key.role !== "call")
      expect(wantedOf(run, inRun, 1)).toEqual({ rank: expect.any(Number) });
  });
});

describe("a delivery of a run is wanted", () => {
  it("with the history up to its entry, or with its own body", () => {
    const run = aRunAfter([plan(1), plan(2)], [result(2)], call(1));
    const wanted = (part: string) => wantedOf(run, { part, root: run.root }, 1);

    expect(["start", "p1", "p2", "s2"].map(wanted)).toEqual([0, 1, 2, 3].map((rank) => ({ rank })));
    expect(["c1", "a1"].map(wanted)).toEqual(["wanted", "wanted"]);
    expect(["s1", "p3", "f", "e", "x", "w1", ""].map(wanted)).toEqual(Array(7).fill("unwanted"));
  });

  it("by the run that it is of, and while that is active", () => {
    const run = aRun();
    const { root } = run;

    expect(wantedOf(undefined, { part: "start", root }, 1)).toBe("unwanted");
    expect(wantedOf(run, { part: "start", root: newId() }, 1)).toBe("unwanted");
    expect(wantedOf(finish(run, epochStart), { part: "start", root }, 1)).toBe("unwanted");
  });
});

describe("the end of a run", () => {
  it("is one version, which keeps its wait", () => {
    const run = aRunAfter([result(1)], wait(2));
    const at = epochStart + 1;

    expect(finish(run, at)).toEqual({
      ...run,
      version: run.version + 1,
      state: { kind: "succeeded", endedAt: at, pending: run.state.pending },
    });
    expect(cancelRun(run, at)).toEqual({
      ...run,
      version: run.version + 1,
      state: { kind: "canceled", endedAt: at, pending: run.state.pending },
    });
  });

  it("by a failure names the delivery that failed, and its part", () => {
    const run = aRunAfter([result(1)]);
    const failed = failRun(run, result(1), failure, epochStart + 5);

    expect(failed).toMatchObject({
      version: run.version + 1,
      history: run.history,
      state: { kind: "failed", endedAt: epochStart + 5, failure: { ...failure, at: "s1" } },
    });
    expect(failed?.state.failure.dlqId).toMatch(new RegExp(`^${epochStart + 5}-`));
  });

  it("is the last: no failure, and no answer of a call, comes to a run that has ended", () => {
    const run = aRunAfter([result(1)], call(2));
    const failed = failRun(aRun(), start, failure, epochStart);
    const ended = [finish(run, epochStart), cancelRun(run, epochStart), failed ?? run];

    for (const each of ended) {
      expect(each.state.kind).not.toBe("active");
      expect(failRun(each, result(1), failure, epochStart + 1)).toBeUndefined();
      expect(callAnswered(each, 2)).toBeUndefined();
    }
  });
});

describe("a start in two phases", () => {
  const asked = aRun({ adoption: "awaited" });

  it("is adopted once, and never if its endpoint was not asked to start it", () => {
    const run = adopt(asked);

    expect(run).toMatchObject({ adoption: "done", version: asked.version + 1 });
    expect(run && adopt(run)).toBeUndefined();
    expect(adopt(aRun())).toBeUndefined();
  });

  it("needs its first delivery no more when it is adopted, and its second until a step is done", () => {
    const run = adopt(asked);
    if (!run) throw new Error("it is adopted");
    const [start, again] = [{ role: "start" }, { role: "adopted" }] as const;

    expect(hasTakenEffect(asked, start)).toBe(false);
    expect(hasTakenEffect(run, start)).toBe(true);
    expect(hasTakenEffect(run, again)).toBe(false);
    const stepped = append(run, [{ role: "result", step: 1 }]);
    expect(stepped.kind === "appended" && hasTakenEffect(stepped.run, again)).toBe(true);
    expect(wantedOf(run, { part: "adopted", root: run.root }, 1)).toEqual({ rank: 0 });
  });
});
