/** Search indexes in the management API (docs/design/wire#search-indexes). */
import { searchIndexTypes, searchIndexRegions } from "@posthaste/domain";
import * as z from "zod";
import { jsonBody, strictObject } from "../bodies/json.ts";
import { endpoint } from "../endpoints/endpoint.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { isVisibleAscii } from "../wire/text.ts";
import { line, oneOf, wholeNumber } from "./fields.ts";
import { idOfTenant } from "./tenants.ts";

const nameLengthMax = 128;
const emailLengthMax = 254;
const endpointLengthMax = 2_048;

const type = oneOf(searchIndexTypes);
const region = oneOf(searchIndexRegions);
const bounded = wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER });
const unlimited = -1;
const boundedOrNot = wholeNumber({ min: unlimited, max: Number.MAX_SAFE_INTEGER }).describe(
  "-1: unlimited",
);

const quotas = {
  max_vector_count: bounded,
  max_monthly_reranks: boundedOrNot,
  max_daily_updates: boundedOrNot,
  max_daily_queries: boundedOrNot,
  max_monthly_bandwidth: boundedOrNot,
  max_writes_per_second: bounded,
  max_query_per_second: bounded,
  max_reads_per_request: bounded,
  max_writes_per_request: bounded,
};

const searchIndexSchema = z
  .object({
    customer_id: z.string().describe("The tenant that owns it"),
    id: z.uuid(),
    name: z.string(),
    endpoint: z.string(),
    type,
    region,
    partner_email: z.string().describe("Empty when there is none"),
    token: z.string(),
    read_only_token: z.string(),
    ...quotas,
    creation_time: z.int().describe("Unix timestamp in seconds"),
    input_enrichment_enabled: z.boolean(),
    throughput_vector: z
      .array(z.object({ x: z.iso.datetime().describe("The time of the sample"), y: z.number() }))
      .describe("As reported, oldest first"),
  })
  .meta({ id: "SearchIndex" });

export type SearchIndexJson = JsonOf<typeof searchIndexSchema>;

const createSearchIndexSchema = strictObject({
  customer_id: idOfTenant,
  name: line(1, nameLengthMax),
  endpoint: z
    .string("must be a string")
    .refine(
      (text) => text.length > 0 && text.length <= endpointLengthMax && isVisibleAscii(text),
      `must be 1 to ${endpointLengthMax} visible characters of ASCII`,
    ),
  type,
  region,
  partner_email: line(0, emailLengthMax).optional(),
  input_enrichment_enabled: z.boolean("must be true or false").optional(),
  ...z.object(quotas).partial().shape,
});
export type CreateSearchIndex = JsonOf<typeof createSearchIndexSchema>;

const throughputSchema = strictObject({
  y: z.number("must be a number").min(0, "must not be negative"),
});

export const searchIndexes = {
  listSearchIndexes: endpoint({
    method: "get",
    path: "/v2/search",
    kind: "secret",
    summary: "List the search indexes, oldest first, each with its tokens and limits",
    answers: { 200: { says: "All indexes", schema: z.array(searchIndexSchema), inPieces: true } },
    faults: ["forbidden"],
  }),
  enterSearchIndex: endpoint({
    method: "post",
    path: "/v2/search",
    kind: "write",
    summary:
      "Register a search index, which gets its id and tokens; limits that are not given follow from its type",
    body: jsonBody(createSearchIndexSchema),
    namedBy: ({ name }) => name,
    answers: { 201: { says: "Entered", schema: searchIndexSchema } },
    faults: ["forbidden", "beyond_plan", "too_large"],
  }),
  readSearchIndex: endpoint({
    method: "get",
    path: "/v2/search/{id}",
    kind: "secret",
    summary: "Read a search index",
    answers: { 200: { says: "The index", schema: searchIndexSchema } },
    faults: ["forbidden", "not_found"],
  }),
  strikeSearchIndex: endpoint({
    method: "delete",
    path: "/v2/search/{id}",
    kind: "write",
    summary: "Remove a search index",
    answers: { 200: { says: "Struck out" } },
    faults: ["forbidden", "not_found"],
  }),
  rotateSearchIndexTokens: endpoint({
    method: "post",
    path: "/v2/search/{id}/rotate",
    kind: "write",
    summary: "Give a search index new tokens; the old ones are removed",
    answers: { 200: { says: "The index", schema: searchIndexSchema } },
    faults: ["forbidden", "not_found"],
  }),
  reportThroughput: endpoint({
    method: "post",
    path: "/v2/search/{id}/throughput",
    kind: "act",
    summary: "Report the present throughput of a search index; the newest 100 reports are kept",
    body: jsonBody(throughputSchema),
    answers: { 200: { says: "The index", schema: searchIndexSchema } },
    faults: ["forbidden", "not_found", "too_large"],
  }),
};
