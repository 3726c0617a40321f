import { describe, expect, it } from "@jest/globals";
import { type Run, type RunStep } from "@posthaste/client/api";
import { graphOf } from "./graph.ts";

const step = (stepId: number, state: NonNullable<RunStep["state"]>, errors = 0): RunStep => ({
  ...{ stepId, stepName: `step-${stepId}`, stepType: "Run", concurrent: 1, state },
  createdAt: 1_000 + stepId,
  errors: Array.from({ length: errors }, () => ({
    ...{ error: "no", headers: {}, status: 500, time: 1_000 },
  })),
});
const runOf = (groups: readonly (readonly RunStep[])[]): Run => ({
  workflowRunId: "wfr_1",
  workflowUrl: "https://a.example",
  workflowState: "RUN_FAILED",
  workflowRunCreatedAt: 1_000,
  steps: groups.map((steps) => ({
    type: steps.length > 1 ? ("parallel" as const) : ("sequential" as const),
    steps: [...steps],
  })),
});
const namesIn = (run: Run) =>
  graphOf(run, 5_000).nodes.map(({ row, left }) => row?.name ?? `${left} more`);

describe("a graph", () => {
  it("of a wide group shows failed, retried and required steps before successful ones", () => {
    const well = Array.from({ length: 40 }, (_, nth) => step(nth, "STEP_SUCCESS"));
    const troubled = [
      step(101, "STEP_SUCCESS", 2),
      step(102, "STEP_RETRY", 1),
      step(103, "STEP_FAILED", 3),
    ];

    const names = namesIn(runOf([[...well, ...troubled]]));

    expect(names.slice(0, 4)).toEqual(["step-103", "step-102", "step-101", "step-0"]);
    expect(names.at(-1)).toBe("34 more");
    expect(names).toHaveLength(10);
  });

  it("of a long run has the steps in its middle that went wrong, in their place", () => {
    const groups = Array.from({ length: 200 }, (_, nth) => [
      step(nth, nth === 90 ? "STEP_FAILED" : "STEP_SUCCESS", nth === 100 ? 1 : 0),
    ]);

    const names = namesIn(runOf(groups));

    expect(names.slice(30, 35)).toEqual(["60 more", "step-90", "9 more", "step-100", "69 more"]);
    expect(names).toHaveLength(65);
  });

  it("of a run that fits has all steps of the run, each after its predecessors", () => {
    const { nodes, edges } = graphOf(
      runOf([[step(1, "STEP_SUCCESS")], [step(2, "STEP_SUCCESS"), step(3, "STEP_SUCCESS")]]),
      5_000,
    );

    expect(nodes.map(({ id, column }) => [id, column])).toEqual([
      ["1", 0],
      ["2", 1],
      ["3", 1],
    ]);
    expect(edges).toEqual([
      ["1", "2"],
      ["1", "3"],
    ]);
  });

  it("of ten thousand steps is drawn in part, and says how much is left out", () => {
    const wide = Array.from({ length: 500 }, (_, nth) => step(nth, "STEP_SUCCESS"));
    const long = Array.from({ length: 10_000 }, (_, nth) => [step(nth + 500, "STEP_SUCCESS", 1)]);

    const { edges, nodes } = graphOf(runOf([wide, ...long]), 20_000);

    const drawn = nodes.filter(({ row }) => row !== undefined).length;
    const left = nodes.reduce((sum, { left: more = 0 }) => sum + more, 0);
    expect(drawn + left).toBe(10_500);
    expect(nodes.length).toBeLessThan(120);
    expect(edges.length).toBeLessThan(250);
  });
});
