/** Dead letters: the message, and the destination's last answer (docs/design/wire#dead-letters). */
import {
  type DeadLetter,
  type DeadLetterFilter,
  type Fault,
  dlqId,
  isFault,
  planBounds,
} from "@posthaste/domain";
import * as z from "zod";
import { field, type Fields, namesOf, readFields } from "../queries/fields.ts";
import { messageFields } from "../queries/message-filter.ts";
import { type PageQuery, pageNames, parsePage } from "../queries/page.ts";
import {
  type QueryValues,
  flag,
  parameterFault,
  parseInteger,
  readQuery,
  several,
  withoutEffect,
} from "../queries/query-values.ts";
import { type SelectedByBody, selectedBy, selectionBody } from "../queries/selection.ts";
import { attemptErrorText } from "../representations/attempt-error.ts";
import { type ReadView, bodyView, readableBody } from "../representations/body.ts";
import { readableHeaders } from "../representations/hidden.ts";
import { type JsonOf, cursorShape, headersShape } from "../representations/schemas.ts";
import { failedRunPageSchema } from "./failed-runs.ts";
import { failedRunNames, type FailedRunQuery, parseFailedRunQuery } from "../queries/run-filter.ts";
import { type BodyRow, endpoint, type QueryRow } from "./endpoint.ts";
import { publishedJson, publishedSchema } from "./messages.ts";

export const deadLetterSchema = publishedSchema
  .extend({
    dlqId: z.string(),
    responseStatus: z.int().describe("0 when there was no response"),
    error: z
      .string()
      .optional()
      .describe("Why there was no response, or where the response redirects to"),
    responseHeader: headersShape.optional(),
    responseBody: z.string().optional().describe("When it is UTF-8 and not empty"),
    responseBodyBase64: z.string().optional().describe("When the response is not UTF-8"),
    truncated: z
      .literal(true)
      .optional()
      .describe("The response is incomplete: it broke off, or is longer than the kept part"),
  })
  .meta({ id: "DeadLetter" });

export type DeadLetterJson = JsonOf<typeof deadLetterSchema>;

/** `runs`: dead letters of runs are listed. */
type DeadLetterListQuery = DeadLetterQuery | { readonly runs: FailedRunQuery };

export type DeadLetterQuery = { readonly filter: DeadLetterFilter; readonly page: PageQuery };

/** Without `host` and `path`, which are refused like any unknown name. */
const fields: Fields<DeadLetterFilter> = {
  ids: field(["dlqIds"], (values, names) => {
    const ids = several(values, names);
    return ids === undefined || isFault(ids) ? ids : ids.map(dlqId);
  }),
  ...messageFields,
  responseStatuses: field(["responseStatus"], parseStatuses),
};

export const deadLetterParameters: ReadonlySet<string> = new Set([
  ...namesOf(fields),
  ...pageNames,
]);

const selectionParameters: ReadonlySet<string> = new Set([
  ...namesOf(fields),
  "count",
  "cursor",
  "dryRun",
]);

const selectionQuery: QueryRow<QueryValues> = {
  names: selectionParameters,
  parse: (search) => readQuery(search, selectionParameters),
};

const dryRunSchema = z
  .object({
    dryRun: z.literal(true),
    matched: z.int().describe("How many items this call would process"),
    cursor: cursorShape,
  })
  .meta({ id: "DryRun" });

const retryNames: ReadonlySet<string> = new Set(["replaceBody"]);

/** Whether the body of the request replaces the body of the message. Clients of the vendor may send a body without meaning. */
const retryQuery: QueryRow<{ readonly replaceBody: boolean }> = {
  names: retryNames,
  parse: (search) => {
    const values = readQuery(search, retryNames);
    if (isFault(values)) return values;
    const replaceBody = flag(values, "replaceBody");
    return isFault(replaceBody) ? replaceBody : { replaceBody };
  },
};

const retryBody: BodyRow<Uint8Array> = {
  bytesMax: planBounds.bodyBytesMax.max,
  bytesMaxBy: ({ bodyBytesMax }) => bodyBytesMax,
  parse: (bytes) => bytes,
};

const retriedSchema = z.object({ messageId: z.string() });

export const deadLetters = {
  listDeadLetters: endpoint({
    method: "get",
    path: "/v2/dlq",
    kind: "list",
    summary: "List dead letters",
    query: { names: new Set([...deadLetterParameters, ...failedRunNames]), parse: parseListQuery },
    answers: {
      200: {
        says: "A page; with source=workflow, of failed runs",
        schema: z.union([
          z.object({ cursor: cursorShape, messages: z.array(deadLetterSchema) }),
          failedRunPageSchema,
        ]),
        isLarge: true,
      },
    },
    faults: [],
  }),
  readDeadLetter: endpoint({
    method: "get",
    path: "/v2/dlq/{dlqId}",
    kind: "read",
    summary: "Read a dead letter",
    answers: { 200: { says: "The dead letter", schema: deadLetterSchema, isLarge: true } },
    faults: ["not_found"],
  }),
  removeDeadLetter: endpoint({
    method: "delete",
    path: "/v2/dlq/{dlqId}",
    kind: "write",
    summary: "Remove a dead letter",
    answers: { 200: { says: "Removed" } },
    faults: ["forbidden", "not_found"],
  }),
  removeDeadLetters: endpoint({
    method: "delete",
    path: "/v2/dlq",
    kind: "write",
    summary:
      "Remove dead letters by ids or filters in the query or in the body; without any, all: a call processes up to 100",
    query: selectionQuery,
    body: selectionBody(selectionParameters),
    answers: {
      200: {
        says: "How many were removed. The cursor is present if more may match",
        schema: z.union([z.object({ deleted: z.int(), cursor: cursorShape }), dryRunSchema]),
      },
    },
    faults: ["forbidden", "too_large"],
  }),
  retryDeadLetter: endpoint({
    method: "post",
    path: "/v2/dlq/retry/{dlqId}",
    kind: "act",
    summary:
      "Retry a dead letter as a new message. Configuration headers replace stored ones; with replaceBody=true the body of the request replaces the stored body",
    query: retryQuery,
    body: retryBody,
    answers: { 201: { says: "The new message", schema: retriedSchema } },
    faults: ["forbidden", "not_found", "conflict", "beyond_plan", "too_large", "disk_full"],
  }),
  retryDeadLetters: endpoint({
    method: "post",
    path: "/v2/dlq/retry",
    kind: "act",
    summary:
      "Retry dead letters by ids or filters in the query or in the body; without any, all: a call processes up to 100. Configuration headers change each",
    query: selectionQuery,
    body: selectionBody(selectionParameters),
    answers: {
      200: { says: "How many would be retried", schema: dryRunSchema },
      201: {
        says: "The new messages. The cursor is empty when no more may match",
        schema: z.object({ cursor: z.string(), responses: z.array(retriedSchema) }),
      },
    },
    faults: ["forbidden", "not_found", "beyond_plan", "too_large", "disk_full"],
  }),
};

const countMax = 100;

/** With `source=workflow` this is the list of failed runs, with its filters. */
function parseListQuery(search: string): DeadLetterListQuery | Fault {
  if (!new URLSearchParams(search).has("source")) return parseDeadLetterQuery(search);
  const runs = parseFailedRunQuery(search);
  return isFault(runs) ? runs : { runs };
}

/** `search` is the text after the `?`. A bulk operation without any filter selects everything. */
export function parseDeadLetterQuery(search: string): DeadLetterQuery | Fault {
  const values = readQuery(search, deadLetterParameters, withoutEffect);
  if (isFault(values)) return values;
  const filter = readFields(fields, values);
  if (isFault(filter)) return filter;
  const page = parsePage(values, { countDefault: countMax, countMax, order: "earliestFirst" });
  return isFault(page) ? page : { filter, page };
}

export type DeadLetterSelection = DeadLetterQuery & { readonly dryRun: boolean };

/** Selects the items for one call of a bulk operation. Returns `none` for an empty list of ids. */
export function parseDeadLetterSelection(
  query: QueryValues,
  body: SelectedByBody,
): DeadLetterSelection | "none" | Fault {
  const values = selectedBy(query, body);
  if (values === "none" || isFault(values)) return values;
  const filter = readFields(fields, values);
  if (isFault(filter)) return filter;
  if ((filter.ids?.length ?? 0) > countMax)
    return parameterFault("dlqIds", `must hold at most ${countMax} values`);
  const page = parsePage(values, { countDefault: countMax, countMax, order: "earliestFirst" });
  if (isFault(page)) return page;
  const dryRun = flag(values, "dryRun");
  return isFault(dryRun) ? dryRun : { filter, page, dryRun };
}

function parseStatuses(values: QueryValues): readonly number[] | undefined | Fault {
  const texts = several(values, ["responseStatus"]);
  if (!texts || isFault(texts)) return texts;
  const statuses: number[] = [];
  for (const text of texts) {
    const status = parseInteger("responseStatus", text, { min: 0, max: 999 });
    if (isFault(status)) return status;
    statuses.push(status);
  }
  return statuses;
}

export function deadLetterJson(letter: DeadLetter, view: ReadView): DeadLetterJson {
  const { message, response } = letter;
  const body = readableBody(response?.body, bodyView(message, view));
  const error = attemptErrorText(letter, message.url, message.policy.redaction);
  return {
    ...publishedJson(message, view),
    dlqId: letter.id,
    responseStatus: response?.status ?? 0,
    ...(error !== undefined && { error }),
    ...(response && {
      responseHeader: readableHeaders(response.headers, message.policy.redaction, view.sha256),
    }),
    ...(body.kind === "text" && { responseBody: body.text }),
    ...(body.kind === "binary" && { responseBodyBase64: body.base64 }),
    ...(response?.truncated && { truncated: true as const }),
  };
}

/** A page of dead letters. The last page has no cursor. */
export const deadLetterPageJson = (messages: readonly DeadLetterJson[], cursor?: string) => ({
  ...(cursor !== undefined && { cursor }),
  messages,
});
