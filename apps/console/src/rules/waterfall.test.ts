import { describe, expect, it } from "@jest/globals";
import { type Run, type RunStep } from "@posthaste/client/api";
import { failedRow, ticksOf, waitingRows, waterfallOf } from "./waterfall.ts";

const done = (stepId: number, createdAt: number, more: Partial<RunStep> = {}): RunStep => ({
  stepId,
  stepName: `s${stepId}`,
  stepType: "Run",
  concurrent: 1,
  createdAt,
  state: "STEP_SUCCESS",
  ...more,
});

const runOf = (steps: Run["steps"], more: Partial<Run> = {}): Run => ({
  workflowRunId: "wfr_1",
  workflowUrl: "https://a.example",
  workflowState: "RUN_STARTED",
  workflowRunCreatedAt: 1_000,
  steps,
  ...more,
});

const one = (step: RunStep): Run["steps"][number] => ({ type: "sequential", steps: [step] });
const spans = (run: Run, now: number) =>
  waterfallOf(run, now).rows.map(({ key, from, to }) => [key, from, to]);

describe("on the scale of time a step", () => {
  it("begins where its predecessor ended, and a group where all of its members may", () => {
    const group = {
      type: "parallel" as const,
      steps: [done(2, 1_500, { concurrent: 2 }), done(3, 1_900, { concurrent: 2 })],
    };
    const run = runOf([one(done(1, 1_200)), group, one(done(4, 2_000))], {
      workflowState: "RUN_SUCCESS",
      workflowRunCompletedAt: 2_100,
    });

    expect(spans(run, 9_000)).toEqual([
      ["1", 1_000, 1_200],
      ["2", 1_200, 1_500],
      ["3", 1_200, 1_900],
      ["4", 1_900, 2_000],
    ]);
    expect(waterfallOf(run, 9_000)).toMatchObject({ from: 1_000, to: 2_100 });
  });

  it("that sleeps ends when it wakes", () => {
    const run = runOf([one(done(1, 1_100, { sleepFor: 2 })), one(done(2, 3_200))]);

    expect(spans(run, 4_000)).toEqual([
      ["1", 1_000, 3_100],
      ["2", 3_100, 3_200],
    ]);
  });

  it("that is under way extends to now", () => {
    const next = { type: "next" as const, steps: [{ state: "STEP_RETRY" as const, errors: [] }] };

    expect(spans(runOf([one(done(1, 1_200)), next]), 5_000)).toEqual([
      ["1", 1_000, 1_200],
      ["next", 1_200, 5_000],
    ]);
  });
});

describe("a step's time", () => {
  const failure = (time: number) => ({ error: "no", headers: {}, status: 500, time });
  const kindsOf = (step: RunStep, more: Partial<Run> = {}) =>
    waterfallOf(runOf([one(step)], more), 5_000).rows[0]?.segments.map(({ kind, from, to }) => [
      kind,
      from,
      to,
    ]);

  it("has its attempts that failed, the time between them, and how it ended", () => {
    const errors = [failure(1_200), failure(1_800)];

    expect(kindsOf(done(1, 2_000, { errors }))).toEqual([
      ["failed", 1_000, 1_200],
      ["retry", 1_200, 1_800],
      ["mark", 1_200, 1_200],
      ["mark", 1_800, 1_800],
      ["done", 1_800, 2_000],
    ]);
    expect(kindsOf(done(1, 1_000, { errors, state: "STEP_RETRY" }))?.at(-1)).toEqual([
      "retry",
      1_800,
      5_000,
    ]);
    expect(
      kindsOf(done(1, 1_000, { errors, state: "STEP_FAILED" }), { workflowRunCompletedAt: 1_800 }),
    ).toEqual([
      ["failed", 1_000, 1_200],
      ["retry", 1_200, 1_800],
      ["mark", 1_200, 1_200],
      ["mark", 1_800, 1_800],
    ]);
  });

  it.each([
    ["SleepFor", "sleep"],
    ["Wait", "wait"],
    ["Invoke", "wait"],
    ["Run", "done"],
  ])("of the kind %s is drawn as %s", (stepType, kind) => {
    expect(kindsOf(done(1, 2_000, { stepType }))).toEqual([[kind, 1_000, 2_000]]);
  });
});

it("the failed step and the steps that wait for an event are found", () => {
  const waits = { state: "STEP_PROGRESS" as const, waitEventId: "approved" };
  const waterfall = waterfallOf(
    runOf([one(done(1, 1_200, { state: "STEP_FAILED" })), one(done(2, 1_300, waits))]),
    5_000,
  );

  expect(failedRow(waterfall)?.name).toBe("s1");
  expect(waitingRows(waterfall).map(({ name }) => name)).toEqual(["s2"]);
});

it.each([
  [0, [0]],
  [900, [0, 200, 400, 600, 800]],
  [59_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
  [7_200_000, [0, 1_800_000, 3_600_000, 5_400_000]],
])("a scale of %i ms has its marks at round times", (span, ticks) => {
  expect(ticksOf(span)).toEqual(ticks);
});
