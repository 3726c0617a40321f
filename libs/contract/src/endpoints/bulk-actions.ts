/** Bulk actions: the progress of an action that a filter began (docs/bulk.md). */
import {
  type BulkAction,
  type BulkWork,
  type Fault,
  isFault,
  isUnderWay,
  unreachable,
} from "@posthaste/domain";
import * as z from "zod";
import { filterJson } from "../queries/message-filter.ts";
import { activeRunFilterJson } from "../queries/run-selection.ts";
import { type PageQuery, parsePage } from "../queries/page.ts";
import { parameterFault, readQuery, single } from "../queries/query-values.ts";
import { cursorShape, type JsonOf, millisecondsShape } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

const bulkStates = ["IN_PROGRESS", "FINISHED"] as const;
type BulkState = (typeof bulkStates)[number];

const bulkActionSchema = z
  .object({
    actionId: z.string(),
    kind: z
      .enum(["cancel", "cancelRuns"])
      .describe("Whether messages or workflow runs are cancelled"),
    state: z.enum(bulkStates),
    total: z
      .int()
      .describe("How many matched when the action was accepted; never less than processed"),
    processed: z.int().describe("How many were cancelled so far"),
    createdAt: millisecondsShape,
    completedAt: millisecondsShape.optional(),
    filter: z
      .record(z.string(), z.array(z.string()))
      .describe("The filter as requested; empty for all"),
  })
  .meta({ id: "BulkAction" });

export type BulkActionJson = JsonOf<typeof bulkActionSchema>;

const listNames = new Set(["cursor", "count", "state"]);
const pageDefaults = { countDefault: 100, countMax: 1_000, order: "latestFirst" } as const;

type BulkActionQuery = { readonly page: PageQuery; readonly state: BulkState | undefined };

export const bulkActions = {
  listBulkActions: endpoint({
    method: "get",
    path: "/v2/bulkActions",
    kind: "list",
    summary: "List bulk actions, the latest first. With a state, pages may be short",
    query: { names: listNames, parse: parseList },
    answers: {
      200: {
        says: "A page of changes",
        schema: z.object({ cursor: cursorShape, bulkActions: z.array(bulkActionSchema) }),
        isLarge: true,
      },
    },
    faults: [],
  }),
  readBulkAction: endpoint({
    method: "get",
    path: "/v2/bulkActions/{actionId}",
    kind: "read",
    summary: "Read a bulk action that is in progress or ended in the last seven days",
    answers: { 200: { says: "The bulk action", schema: bulkActionSchema } },
    faults: ["not_found"],
  }),
};

function parseList(search: string): BulkActionQuery | Fault {
  const values = readQuery(search, listNames);
  if (isFault(values)) return values;
  const page = parsePage(values, pageDefaults);
  if (isFault(page)) return page;
  const given = single(values, "state");
  if (isFault(given)) return given;
  const state = bulkStates.find((each) => each === given);
  if (given !== undefined && state === undefined)
    return parameterFault("state", `must be ${bulkStates.join(" or ")}`);
  return { page, state };
}

export const bulkStateOf = (action: BulkAction): BulkState =>
  isUnderWay(action) ? "IN_PROGRESS" : "FINISHED";

export function bulkActionJson(action: BulkAction): BulkActionJson {
  const { id, work, total, processed, createdAt, completedAt } = action;
  return {
    actionId: id,
    kind: work.kind,
    state: bulkStateOf(action),
    total,
    processed,
    createdAt,
    ...(completedAt !== undefined && { completedAt }),
    filter: filterOf(work),
  };
}

function filterOf(work: BulkWork): BulkActionJson["filter"] {
  switch (work.kind) {
    case "cancel":
      return filterJson(work.filter);
    case "cancelRuns":
      return activeRunFilterJson(work.filter);
    default:
      return unreachable(work);
  }
}
