/** Runs: the history of one that is active, and its end, by its endpoint or by hand. */
import { fault, isFault, type RunId, runId } from "@posthaste/domain";
import * as z from "zod";
import { readJson } from "../bodies/json.ts";
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
  cancelled: z.int().describe("Runs that were active, and are cancelled"),
});

/** What a run returns, at most. */
const resultBytesMax = 8 * 1024 * 1024;
const selectionBytesMax = 64 * 1024;
const idsMax = 1_000;

const endQuery: QueryRow<{ readonly cancels: boolean }> = {
  names: new Set(["cancel"]),
  parse: (search) => {
    const cancel = new URLSearchParams(search).get("cancel") ?? "true";
    return cancel === "true" || cancel === "false"
      ? { cancels: cancel === "true" }
      : fault("malformed", "cancel: must be true or false");
  },
};

const result: BodyRow<Uint8Array> = { bytesMax: resultBytesMax, parse: (bytes) => bytes };

type Ids = readonly RunId[] | undefined;

const idsQuery: QueryRow<Ids> = {
  names: new Set(["workflowRunIds", "count"]),
  parse: (search) => {
    const given = new URLSearchParams(search).getAll("workflowRunIds");
    return given.length === 0 ? undefined : idsOf(given.flatMap((ids) => ids.split(",")));
  },
};

const selectionSchema = z.object({ workflowRunIds: z.array(z.string()) });

const idsBody: BodyRow<Ids> = {
  schema: selectionSchema,
  bytesMax: selectionBytesMax,
  parse: (bytes) => {
    if (bytes.length === 0) return undefined;
    const read = readJson(bytes, "", selectionBytesMax);
    if (isFault(read)) return read;
    const { success, data } = selectionSchema.safeParse(read.json);
    return success
      ? idsOf(data.workflowRunIds)
      : fault("malformed", "workflowRunIds: must be an array of strings");
  },
};

function idsOf(texts: readonly string[]) {
  const ids = texts.map((text) => text.trim()).filter((text) => text !== "");
  return ids.length > idsMax
    ? fault("malformed", `workflowRunIds: must be at most ${idsMax}`)
    : ids.map(runId);
}

export const runs = {
  readRunHistory: endpoint({
    method: "get",
    path: "/v2/workflows/runs/{runId}",
    kind: "read",
    summary: "Read the history of a run that is active, as its endpoint gets it",
    answers: { 200: { says: "Its entries in their order", schema: historySchema, isLarge: true } },
    faults: ["not_found"],
  }),
  endRun: endpoint({
    method: "delete",
    path: "/v2/workflows/runs/{runId}",
    kind: "write",
    summary: "Cancel a run; with cancel=false finish it, the body being what it returns",
    query: endQuery,
    body: result,
    answers: { 200: { says: "It has ended, by this or before", schema: endedSchema } },
    faults: ["malformed", "forbidden", "not_found", "too_large"],
  }),
  cancelRuns: endpoint({
    method: "delete",
    path: "/v2/workflows/runs",
    kind: "write",
    summary: "Cancel runs by their ids, given in the query or in the body",
    query: idsQuery,
    body: idsBody,
    answers: { 200: { says: "How many were active", schema: endedSchema } },
    faults: ["malformed", "forbidden", "too_large"],
  }),
};
