/** Runs: the history of an active run, and its end, by its endpoint or by hand. */
import { isFault } from "@posthaste/domain";
import * as z from "zod";
import { jsonBytesMax, parseJson, strictObject } from "../bodies/json.ts";
import {
  cancelRunNames,
  parseRunSelection,
  type RunSelection,
  runsUnder,
  selectedRuns,
} from "../queries/run-selection.ts";
import { flag, readQuery } from "../queries/query-values.ts";
import { type BodyRow, endpoint, type QueryRow } from "./endpoint.ts";

const historySchema = z
  .array(
    z.object({
      messageId: z.string(),
      body: z.string().describe("Base64"),
      callType: z.literal("step"),
    }),
  )
  .meta({ id: "RunHistory" });

const endedSchema = z.object({
  cancelled: z.int().describe("Runs that were active and are now cancelled"),
});

const resultBytesMax = 8 * 1024 * 1024;

const endNames = new Set(["cancel"]);

/** `isOwn`: the endpoint of the run ends it; its clients always say whether it returns or is cancelled. */
const endQuery: QueryRow<{ readonly cancels: boolean; readonly isOwn: boolean }> = {
  names: endNames,
  parse: (search) => {
    const values = readQuery(search, endNames);
    if (isFault(values)) return values;
    const cancels = flag(values, "cancel", true);
    return isFault(cancels) ? cancels : { cancels, isOwn: values.has("cancel") };
  },
};

const result: BodyRow<Uint8Array> = { bytesMax: resultBytesMax, parse: (bytes) => bytes };

type Selected = RunSelection | undefined;

const selectionQuery: QueryRow<Selected> = { names: cancelRunNames, parse: parseRunSelection };

const ids = "must be a list of the ids of runs";
const notEmpty = "must not be empty";
const selectionSchema = strictObject({
  workflowRunIds: z.array(z.string(ids).min(1, notEmpty), ids).optional(),
  // An empty text would be the beginning of every URL.
  workflowUrl: z
    .string("must be a string")
    .min(1, notEmpty)
    .optional()
    .describe("The beginning of the URL"),
});

const selectionBody: BodyRow<Selected> = {
  schema: selectionSchema,
  bytesMax: jsonBytesMax,
  parse: (bytes) => {
    if (bytes.length === 0) return undefined;
    const selection = parseJson(bytes, selectionSchema);
    if (isFault(selection)) return selection;
    const { workflowRunIds, workflowUrl } = selection;
    return workflowRunIds ? selectedRuns(workflowRunIds) : runsUnder(workflowUrl);
  },
};

export const runs = {
  readRunHistory: endpoint({
    method: "get",
    path: "/v2/workflows/runs/{runId}",
    kind: "read",
    isOfStep: true,
    summary: "Read the history of an active run, as its endpoint receives it",
    answers: {
      200: { says: "The entries of the history, in order", schema: historySchema, inPieces: true },
    },
    faults: ["not_found"],
  }),
  endRun: endpoint({
    method: "delete",
    path: "/v2/workflows/runs/{runId}",
    kind: "act",
    summary: "Cancel a run; with cancel=false finish it, with the body as its result",
    query: endQuery,
    body: result,
    // The endpoint of the run says that it has returned.
    isAudited: ({ cancels }) => cancels,
    answers: { 200: { says: "The run has ended, by this call or before", schema: endedSchema } },
    faults: ["forbidden", "not_found", "too_large"],
  }),
  cancelRuns: endpoint({
    method: "delete",
    path: "/v2/workflows/runs",
    kind: "act",
    summary:
      "Cancel runs by their ids, or by filters in the query, the newest 100 matches unless count says more; or, by a body alone, all runs that it selects: {} selects every run",
    query: selectionQuery,
    body: selectionBody,
    answers: { 200: { says: "How many were active", schema: endedSchema } },
    faults: ["forbidden", "too_large"],
  }),
};
