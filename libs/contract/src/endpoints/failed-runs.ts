/** Failed runs as dead letters: the run, and what its endpoint answered last (docs/workflows). */
import { type RunIn, runMessageId } from "@posthaste/domain";
import * as z from "zod";
import {
  failedRunNames,
  failedRunsMax,
  parseFailedRunQuery,
  parseFailedRunSelection,
} from "../queries/run-filter.ts";
import { type ReadView } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import {
  cursorShape,
  headersShape,
  type JsonOf,
  millisecondsShape,
} from "../representations/schemas.ts";
import {
  failureAnswer,
  failureError,
  functionAnswer,
  functionState,
  functionStates,
} from "../workflow/run-failure.ts";
import { type RunReading } from "../workflow/step-view.ts";
import { endpoint } from "./endpoint.ts";

const failedRunSchema = z
  .object({
    dlqId: z.string(),
    workflowUrl: z.string(),
    workflowRunId: z.string(),
    workflowCreatedAt: millisecondsShape,
    messageId: z.string().describe("The delivery that failed"),
    url: z.string(),
    method: z.string(),
    header: headersShape,
    body: z.string().optional().describe("The payload, when it is UTF-8 and not empty"),
    bodyBase64: z.string().optional().describe("When the payload is not UTF-8"),
    maxRetries: z.int(),
    createdAt: millisecondsShape,
    notBefore: millisecondsShape.describe("When its first delivery was due"),
    failureCallback: z.string().optional(),
    failureFunctionState: z.enum(functionStates).optional(),
    failureCallbackInfo: z
      .object({
        state: z.enum(functionStates),
        responseStatus: z.int().optional(),
        responseHeaders: headersShape.optional(),
        responseBody: z.string().optional(),
      })
      .optional(),
    callerIP: z.string(),
    label: z.string().optional().describe("The first label"),
    labels: z.array(z.string()).optional(),
    flowControlKey: z.string().optional(),
    responseStatus: z.int().describe("0 when there was no response"),
    error: z
      .string()
      .optional()
      .describe("Why there was no response, or where the response redirects to"),
    responseHeader: headersShape.optional(),
    responseBody: z.string().optional().describe("When it is UTF-8 and not empty"),
    responseBodyBase64: z.string().optional().describe("When the response is not UTF-8"),
  })
  .meta({ id: "FailedRun" });

export type FailedRunJson = JsonOf<typeof failedRunSchema>;

export const failedRunPageSchema = z.object({
  cursor: cursorShape,
  messages: z.array(failedRunSchema),
});

export const failedRuns = {
  listFailedRuns: endpoint({
    method: "get",
    path: "/v2/workflows/dlq",
    kind: "list",
    summary: "List failed runs, the newest failure first",
    query: { names: failedRunNames, parse: parseFailedRunQuery },
    answers: {
      200: {
        says: "A page; the cursor is empty on the last page",
        schema: z.object({ cursor: z.string(), messages: z.array(failedRunSchema) }),
        isLarge: true,
      },
    },
    faults: [],
  }),
  readFailedRun: endpoint({
    method: "get",
    path: "/v2/workflows/dlq/{dlqId}",
    kind: "read",
    summary: "Read a failed run",
    answers: { 200: { says: "The failed run", schema: failedRunSchema, isLarge: true } },
    faults: ["not_found"],
  }),
  removeFailedRun: endpoint({
    method: "delete",
    path: "/v2/workflows/dlq/{dlqId}",
    kind: "write",
    summary: "Remove a failed run from the dead letters; the log of runs keeps it",
    answers: { 200: { says: "Removed" } },
    faults: ["forbidden", "not_found"],
  }),
  removeFailedRuns: endpoint({
    method: "delete",
    path: "/v2/workflows/dlq",
    kind: "write",
    summary:
      "Remove failed runs by ids or filters, or with a count alone the newest: up to 100 in each call",
    query: { names: failedRunNames, parse: parseFailedRunSelection(failedRunsMax) },
    answers: {
      200: {
        says: "How many were removed. The cursor is present if more may match",
        schema: z.object({ deleted: z.int(), cursor: cursorShape }),
      },
    },
    faults: ["forbidden"],
  }),
  tellFailureAgain: endpoint({
    method: "post",
    path: "/v2/workflows/dlq/callback/{dlqId}",
    kind: "act",
    summary:
      "Call the failure function of a failed run again, after it has failed or was cancelled",
    answers: {
      200: {
        says: "The failure function is called",
        schema: z.object({ workflowRunId: z.string(), workflowCreatedAt: millisecondsShape }),
      },
    },
    faults: ["forbidden", "not_found"],
  }),
  cancelFailureFunction: endpoint({
    method: "delete",
    path: "/v2/workflows/dlq/callback/{dlqId}",
    kind: "act",
    summary: "Cancel the running failure function of a failed run",
    answers: { 200: { says: "The failure function is not called any more" } },
    faults: ["forbidden", "not_found"],
  }),
};

export function failedRunJson(
  reading: RunReading & { readonly run: RunIn<"failed"> },
  view: ReadView,
): FailedRunJson {
  const { parts, run } = reading;
  const { createdAt, id, plan, root, state, url } = run;
  const { redaction, flow, labels, retriesMax } = plan.policy;
  const [label] = labels;
  const { sha256 } = view;
  const payload = parts.get("start")?.body;
  const answer = parts.get("x")?.body;
  const { headers, status } = failureAnswer(reading);
  const error = failureError(reading);
  const told = functionState(run);
  const { at, dlqId } = state.failure;
  return {
    dlqId,
    workflowUrl: url,
    workflowRunId: id,
    workflowCreatedAt: createdAt,
    messageId: runMessageId(root, at),
    url,
    method: "POST",
    header: readableHeaders(plan.headers, redaction, sha256),
    ...(payload?.kind === "text" && { body: payload.text }),
    ...(payload?.kind === "binary" && { bodyBase64: payload.base64 }),
    maxRetries: retriesMax,
    createdAt,
    notBefore: Math.max(parts.get("start")?.sent?.notBefore ?? 0, createdAt),
    ...(plan.failureFunction && { failureCallback: plan.failureFunction.url }),
    ...(told && {
      failureFunctionState: told,
      failureCallbackInfo: { state: told, ...functionAnswer(reading, view) },
    }),
    callerIP: run.callerIp,
    ...(label !== undefined && { label, labels }),
    ...(flow && { flowControlKey: flow.key }),
    responseStatus: status,
    ...(error !== undefined && { error }),
    responseHeader: readableHeaders(headers, redaction, sha256),
    ...(answer?.kind === "text" && { responseBody: answer.text }),
    ...(answer?.kind === "binary" && { responseBodyBase64: answer.base64 }),
  };
}
