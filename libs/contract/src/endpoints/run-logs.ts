/** The log of runs: runs as they are listed (docs/workflows). */
import * as z from "zod";
import {
  parseRunLogQuery,
  parseRunMessageQuery,
  runEventNames,
  runLogNames,
  runMessageNames,
} from "../queries/run-filter.ts";
import { headersShape, type JsonOf, millisecondsShape } from "../representations/schemas.ts";
import { functionStates } from "../workflow/run-failure.ts";
import { runEventSchema } from "../workflow/run-events.ts";
import { runMessageEventSchema } from "../workflow/run-messages.ts";
import { attemptErrorSchema, runStates, runStepSchema } from "../workflow/run-step.ts";
import { endpoint } from "./endpoint.ts";

const runSchema = z
  .object({
    workflowRunId: z.string(),
    workflowUrl: z.string(),
    workflowState: z.enum(runStates),
    workflowRunCreatedAt: millisecondsShape,
    workflowRunCompletedAt: millisecondsShape.optional(),
    workflowRunCallerIp: z.string().optional().describe("In /v2/workflows/logs only"),
    steps: z.array(
      z.object({
        type: z.enum(["sequential", "parallel", "next"]),
        steps: z.array(runStepSchema),
      }),
    ),
    workflowRunResponse: z.string().optional(),
    invoker: z
      .object({
        workflowRunId: z.string(),
        workflowUrl: z.string(),
        workflowRunCreatedAt: millisecondsShape,
      })
      .optional(),
    failureFunction: z
      .object({
        messageId: z.string(),
        url: z.string(),
        state: z.enum(functionStates),
        failHeaders: headersShape,
        failStatus: z.int().describe("0 when there was no response"),
        failResponse: z.string().optional(),
        responseStatus: z.int().optional(),
        responseHeaders: headersShape.optional(),
        responseBody: z.string().optional(),
        dlqId: z.string(),
        maxRetries: z.int(),
        nextDeliveryTime: millisecondsShape.optional(),
        errors: z.array(attemptErrorSchema).optional(),
      })
      .optional(),
    dlqId: z.string().optional().describe("While the run is a dead letter"),
    label: z.string().optional().describe("The first label"),
    labels: z.array(z.string()).optional(),
    flowControlKey: z.string().optional(),
  })
  .meta({ id: "Run" });

export type RunJson = JsonOf<typeof runSchema>;

export const runLogs = {
  listRunLogs: endpoint({
    method: "get",
    path: "/v2/workflows/logs",
    kind: "list",
    summary: "List runs, newest first, with their steps unless steps=none",
    query: { names: runLogNames, parse: parseRunLogQuery("left out", "runs") },
    answers: {
      200: {
        says: "A page; the cursor is empty on the last page",
        schema: z.object({ cursor: z.string(), runs: z.array(runSchema) }),
        isLarge: true,
      },
    },
    faults: [],
  }),
  listRunEvents: endpoint({
    method: "get",
    path: "/v2/workflows/events",
    kind: "list",
    summary:
      "List the events of runs, newest run first; with groupBy=workflowRunId, the runs with their steps",
    query: { names: runEventNames, parse: parseRunLogQuery("shown", "events") },
    answers: {
      200: {
        says: "A page of events, with groupBy=workflowRunId of runs; the cursor is absent on the last page",
        schema: z.union([
          z.object({ cursor: z.string().optional(), events: z.array(runEventSchema) }),
          z.object({ cursor: z.string().optional(), runs: z.array(runSchema) }),
        ]),
        isLarge: true,
      },
    },
    faults: [],
  }),
  listRunMessages: endpoint({
    method: "get",
    path: "/v2/workflows/messageLogs",
    kind: "list",
    summary: "List the events of runs and of each of their messages, newest run first",
    query: { names: runMessageNames, parse: parseRunMessageQuery },
    answers: {
      200: {
        says: "A page; the cursor is empty on the last page",
        schema: z.object({ cursor: z.string(), events: z.array(runMessageEventSchema) }),
        isLarge: true,
      },
    },
    faults: [],
  }),
};
