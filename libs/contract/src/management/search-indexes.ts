/** Search indexes with the fields of interface.md, as the management API shows and takes them. */
import { type Fault } from "@posthaste/domain";
import * as z from "zod";
import { parseJson } from "../bodies/json.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { isVisibleAscii } from "../wire/text.ts";
import { line, oneOf, strictObject, wholeNumber } from "./fields.ts";
import { idOfTenant } from "./tenants.ts";

const nameLengthMax = 128;
const emailLengthMax = 254;
const endpointLengthMax = 2_048;

const type = oneOf(["free", "payg", "fixed"]);
const region = oneOf(["eu-west-1", "us-central1"]);
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

export const searchIndexSchema = z
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
      .array(z.object({ x: z.iso.datetime().describe("When"), y: z.number() }))
      .describe("As reported, oldest first"),
  })
  .meta({ id: "SearchIndex" });

export type SearchIndexJson = JsonOf<typeof searchIndexSchema>;

export const createSearchIndexSchema = strictObject({
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

export const throughputSchema = strictObject({
  y: z.number("must be a number").min(0, "must not be negative"),
});

export const parseCreateSearchIndex = (body: Uint8Array): CreateSearchIndex | Fault =>
  parseJson(body, createSearchIndexSchema);

export const parseThroughput = (body: Uint8Array): { readonly y: number } | Fault =>
  parseJson(body, throughputSchema);
