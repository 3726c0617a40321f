/** Triggers: a plain request starts a run, without a workflow client. */
import { type Dialect, features } from "@posthaste/domain";
import * as z from "zod";
import { type FlatHeaders } from "../headers/publish-input.ts";
import { dialectOf, dialects, prefixLength } from "../wire/dialects.ts";
import { batchBody } from "./batch.ts";
import { endpoint } from "./endpoint.ts";
import { publish } from "./publish.ts";
import { type RawTarget } from "./raw-target.ts";

const startedSchema = z
  .object({ workflowRunId: z.string(), workflowCreatedAt: z.int().describe("Unix milliseconds") })
  .meta({ id: "StartedRun" });

export const trigger = {
  operation: "trigger",
  kind: "publish",
  prefix: "/v2/trigger",
  names: [],
  summary:
    "Start a run of the workflow at a URL; the body is its payload, the headers are those of a publish",
  answers: {
    200: {
      says: "The run, which is new or was already active under its name",
      schema: startedSchema,
    },
  },
  faults: publish.faults,
} as const satisfies RawTarget;

export const triggers = {
  triggerBatch: endpoint({
    method: "post",
    path: "/v2/batch/trigger",
    kind: "publish",
    summary:
      "Start up to 10,000 runs; each item of the batch is the trigger of one run, and one invalid item refuses all",
    body: batchBody,
    answers: {
      201: {
        says: "The runs, in the order of the items; deduplicated if the run was already active under its name",
        schema: z.array(startedSchema.extend({ deduplicated: z.literal(true).optional() })),
      },
    },
    faults: publish.faults,
  }),
};

/**
 * Returns the headers with those that a workflow client would add. Older clients know only the `Upstash-` names, so a
 * request without a prefixed header is read in that dialect. `newId` makes the id of a run without a name.
 */
export function triggerHeaders(rawHeaders: FlatHeaders, newId: () => string): FlatHeaders {
  const given = new Set<string>();
  let dialect: Dialect | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const lower = rawHeaders[i]?.toLowerCase() ?? "";
    const its = dialectOf(lower);
    if (its === undefined) continue;
    dialect ??= its;
    given.add(lower.slice(prefixLength));
  }
  const { prefix } = dialects[dialect ?? "upstash"];
  const added = [
    ...(given.has("workflow-init") ? [] : [`${prefix}Workflow-Init`, "true"]),
    ...(given.has("workflow-runid") ? [] : [`${prefix}Workflow-RunId`, newId()]),
    ...(given.has("feature-set") ? [] : [`${prefix}Feature-Set`, features.join(",")]),
  ];
  return [...rawHeaders, ...added];
}

/** Writes the JSON by hand, like the answer of a publish. */
export const startedText = (run: { readonly id: string; readonly createdAt: number }): string =>
  JSON.stringify({ workflowRunId: run.id, workflowCreatedAt: run.createdAt });
