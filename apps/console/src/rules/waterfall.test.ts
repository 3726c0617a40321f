import { describe, expect, it } from "@jest/globals";
import { type Run, type RunStep } from "@posthaste/client/api";
import { graphOf } from "./graph.ts";
import { waterfallOf } from "./waterfall.ts";

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
  it("begins where what came before it ended, and a group where all of its members may", () => {
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

  it("that is under way goes on until now", () => {
    const next = { type: "next" as const, steps: [{ state: "STEP_RETRY" as const, errors: [] }] };

    expect(spans(runOf([one(done(1, 1_200)), next]), 5_000)).toEqual([
      ["1", 1_000, 1_200],
      ["next", 1_200, 5_000],
    ]);
  });
});

describe("the graph of a run", () => {
  it("leads from each step of a group to each of the next", () => {
    const group = { type: "parallel" as const, steps: [done(2, 1_500), done(3, 1_900)] };

    const { edges } = graphOf(runOf([one(done(1, 1_200)), group, one(done(4, 2_000))]), 3_000);

    expect(edges).toEqual([
      ["1", "2"],
      ["1", "3"],
      ["2", "4"],
      ["3", "4"],
    ]);
  });

  it("is drawn in part where a run is long or a group is wide, and says how much is left out", () => {
    const wide = {
      type: "parallel" as const,
      steps: Array.from({ length: 500 }, (_, i) => done(i, 1_500)),
    };
    const long = Array.from({ length: 10_000 }, (_, i) => one(done(i + 500, 2_000 + i)));

    const { edges, nodes } = graphOf(runOf([wide, ...long]), 20_000);

    const drawn = nodes.filter(({ row }) => row !== undefined).length;
    const left = nodes.reduce((sum, { left: more = 0 }) => sum + more, 0);
    expect(drawn + left).toBe(10_500);
    expect(nodes.length).toBeLessThan(100);
    expect(edges.length).toBeLessThan(200);
  });
});
