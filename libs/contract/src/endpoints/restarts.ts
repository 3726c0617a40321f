/**
 * Failed runs are run again: restarted from their beginning, or resumed from where they failed. A header of the
 * publish replaces the one that the run was started with; Workflow-RunId names the new run.
 */
import * as z from "zod";
import { failedRunNames, parseFailedRunSelection } from "../queries/run-filter.ts";
import { cursorShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

const runsMax = 50;

const startedSchema = z
  .object({ workflowRunId: z.string(), workflowCreatedAt: z.int() })
  .meta({ id: "RestartedRun" });

const answers = {
  200: { says: "The new run; the dead letter stays", schema: startedSchema },
} as const;
const faults = ["forbidden", "not_found", "beyond_plan", "disk_full"] as const;

const one = <const Path extends string>(path: Path, summary: string) =>
  endpoint({ method: "post", path, kind: "act", summary, answers, faults });

const several = <const Path extends string>(path: Path, summary: string) =>
  endpoint({
    method: "post",
    path,
    kind: "act",
    summary: `${summary}: up to ${runsMax} in each call, by ids or filters, or with a count alone the newest`,
    query: { names: failedRunNames, parse: parseFailedRunSelection(runsMax) },
    answers: {
      200: {
        says: "The new runs. The cursor is present if more may match",
        schema: z.object({ cursor: cursorShape, workflowRuns: z.array(startedSchema) }),
      },
    },
    faults,
  });

const restart = "Start a failed run again from its beginning, with its payload";
const resume = "Continue a failed run from where it failed, with the results of its steps";

export const restarts = {
  restartRun: one("/v2/workflows/dlq/restart/{dlqId}", restart),
  restartRunOfLetter: one("/v2/dlq/restart/{dlqId}", restart),
  restartRuns: several("/v2/workflows/dlq/restart", "Start failed runs again from their beginning"),
  resumeRun: one("/v2/workflows/dlq/resume/{dlqId}", resume),
  resumeRunOfLetter: one("/v2/dlq/resume/{dlqId}", resume),
  resumeRuns: several(
    "/v2/workflows/dlq/resume",
    "Continue failed runs from where they failed, with the results of their steps",
  ),
};
