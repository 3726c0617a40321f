import { expect, it } from "@jest/globals";
import { type Run } from "@posthaste/client";
import { treeOf } from "./run-tree.ts";

it("draws the steps of a run below it, the steps of a group below the group, and failures below their step", () => {
  const run: Run = {
    workflowRunId: "wfr_1",
    workflowUrl: "https://a.example/workflow",
    workflowState: "RUN_STARTED",
    workflowRunCreatedAt: 0,
    steps: [
      {
        type: "sequential",
        steps: [{ stepName: "init", stepType: "Initial", state: "STEP_SUCCESS" }],
      },
      {
        type: "parallel",
        steps: [
          { stepName: "mail", stepType: "Run", state: "STEP_SUCCESS", out: '"sent"' },
          {
            ...{ stepName: "pay", stepType: "Run", state: "STEP_RETRY", nextDeliveryTime: 2_000 },
            errors: [{ error: "500", headers: {}, status: 500, time: 1_000 }],
          },
        ],
      },
    ],
  };

  expect(treeOf(run)).toEqual([
    "wfr_1  started  1970-01-01T00:00:00.000Z",
    "status  500",
    "https://a.example/workflow",
    "├─ init  Initial  success",
    "└─ in parallel",
    "   ├─ mail  Run  success",
    '   │  └─ "sent"',
    "   └─ pay  Run  retry",
    "      ├─ 1970-01-01T00:00:01.000Z 500",
    "      └─ next at 1970-01-01T00:00:02.000Z",
  ]);
});
