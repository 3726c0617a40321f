/** Failed runs once more. A header of a publish replaces what the run was started with; Workflow-RunId names the new run. */
import { type DlqId, dlqId, fault } from "@posthaste/domain";
import * as z from "zod";
import { dialectOf, prefixLength } from "../wire/dialects.ts";
import { endpoint, type QueryRow } from "./endpoint.ts";

const restartedSchema = z
  .object({ workflowRunId: z.string(), workflowCreatedAt: z.int() })
  .meta({ id: "RestartedRun" });

const answers = {
  200: { says: "The new run; the dead letter stays", schema: restartedSchema },
} as const;
const faults = ["malformed", "forbidden", "not_found", "beyond_plan"] as const;
const summary = "Start a failed run again from its beginning, with its payload";

const idsMax = 50;

const dlqIds: QueryRow<readonly DlqId[]> = {
  names: new Set(["dlqIds"]),
  parse: (search) => {
    const ids = new URLSearchParams(search).getAll("dlqIds").flatMap((text) => text.split(","));
    return ids.length === 0 || ids.length > idsMax
      ? fault("malformed", `dlqIds: must be 1 to ${idsMax} ids`)
      : ids.map(dlqId);
  },
};

export const restarts = {
  restartRun: endpoint({
    method: "post",
    path: "/v2/workflows/dlq/restart/{dlqId}",
    kind: "publish",
    summary,
    answers,
    faults,
  }),
  restartRunOfLetter: endpoint({
    method: "post",
    path: "/v2/dlq/restart/{dlqId}",
    kind: "publish",
    summary,
    answers,
    faults,
  }),
  restartRuns: endpoint({
    method: "post",
    path: "/v2/workflows/dlq/restart",
    kind: "publish",
    summary:
      "Start failed runs again from their beginning; ids that are no dead letters are passed over",
    query: dlqIds,
    answers: {
      200: { says: "The new runs", schema: z.object({ workflowRuns: z.array(restartedSchema) }) },
    },
    faults,
  }),
};

/** The name that the caller gives to the new run. */
export function givenRunId(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex((name, i) => {
    const lower = name.toLowerCase();
    return i % 2 === 0 && dialectOf(lower) && lower.slice(prefixLength) === "workflow-runid";
  });
  return at < 0 ? undefined : rawHeaders[at + 1];
}
