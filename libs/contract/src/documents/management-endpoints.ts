/** The endpoints of the management API: a listener and credentials of its own. */
import * as z from "zod";
import {
  createSearchIndexSchema,
  searchIndexSchema,
  throughputSchema,
} from "../management/search-indexes.ts";
import {
  changeTenantSchema,
  createTenantSchema,
  createTokenSchema,
  newTokenSchema,
  tenantSchema,
  tokenSchema,
} from "../management/tenants.ts";
import { keysSchema } from "../representations/schemas.ts";
import { type EndpointEntry } from "./endpoint-entry.ts";

const entries: readonly Omit<EndpointEntry, "api">[] = [
  {
    method: "get",
    path: "/v2/search",
    summary: "List the search indexes, oldest first, each with its tokens and limits",
    answers: [{ status: 200, says: "All indexes", schema: z.array(searchIndexSchema) }],
    faults: [],
  },
  {
    method: "post",
    path: "/v2/search",
    summary:
      "Enter a search index, which gets its id and tokens; what is not said of its limits follows from its type",
    body: createSearchIndexSchema,
    answers: [{ status: 201, says: "Entered", schema: searchIndexSchema }],
    faults: ["malformed", "forbidden", "beyond_plan", "too_large"],
  },
  {
    method: "get",
    path: "/v2/search/{id}",
    summary: "Read a search index",
    answers: [{ status: 200, says: "The index", schema: searchIndexSchema }],
    faults: ["not_found"],
  },
  {
    method: "delete",
    path: "/v2/search/{id}",
    summary: "Strike a search index out",
    answers: [{ status: 200, says: "Struck out" }],
    faults: ["forbidden", "not_found"],
  },
  {
    method: "post",
    path: "/v2/search/{id}/rotate",
    summary: "Give a search index new tokens; the old ones are forgotten",
    answers: [{ status: 200, says: "The index", schema: searchIndexSchema }],
    faults: ["forbidden", "not_found"],
  },
  {
    method: "post",
    path: "/v2/search/{id}/throughput",
    summary: "Report the present throughput of a search index; the newest 100 reports are kept",
    body: throughputSchema,
    answers: [{ status: 200, says: "The index", schema: searchIndexSchema }],
    faults: ["malformed", "forbidden", "not_found", "too_large"],
  },
  {
    method: "get",
    path: "/v2/tenants",
    summary: "List tenants",
    answers: [{ status: 200, says: "All tenants", schema: z.array(tenantSchema) }],
    faults: [],
  },
  {
    method: "post",
    path: "/v2/tenants",
    summary: "Make a tenant, with signing keys and without tokens",
    body: createTenantSchema,
    answers: [{ status: 201, says: "Made", schema: tenantSchema }],
    faults: ["malformed", "forbidden", "conflict", "beyond_plan", "too_large"],
  },
  {
    method: "get",
    path: "/v2/tenants/{id}",
    summary: "Read a tenant",
    answers: [{ status: 200, says: "The tenant", schema: tenantSchema }],
    faults: ["not_found"],
  },
  {
    method: "patch",
    path: "/v2/tenants/{id}",
    summary: "Change a tenant's dialect or limits; what is not named stays",
    body: changeTenantSchema,
    answers: [{ status: 200, says: "The tenant", schema: tenantSchema }],
    faults: ["malformed", "forbidden", "not_found", "too_large"],
  },
  {
    method: "delete",
    path: "/v2/tenants/{id}",
    summary:
      "Close a tenant: its tokens are removed, what it has sent is still delivered, its id is not given again",
    answers: [{ status: 200, says: "Closed" }],
    faults: ["forbidden", "not_found", "conflict"],
  },
  {
    method: "get",
    path: "/v2/tenants/{id}/tokens",
    summary: "List a tenant's tokens, oldest first, without the tokens themselves",
    answers: [{ status: 200, says: "All tokens", schema: z.array(tokenSchema) }],
    faults: ["not_found"],
  },
  {
    method: "post",
    path: "/v2/tenants/{id}/tokens",
    summary: "Make a token",
    body: createTokenSchema,
    answers: [{ status: 201, says: "Made, and shown this once", schema: newTokenSchema }],
    faults: ["malformed", "forbidden", "not_found", "beyond_plan", "too_large"],
  },
  {
    method: "delete",
    path: "/v2/tenants/{id}/tokens/{tokenId}",
    summary: "Revoke a token: it works for five seconds more at most",
    answers: [{ status: 200, says: "Revoked" }],
    faults: ["forbidden", "not_found"],
  },
  {
    method: "get",
    path: "/v2/tenants/{id}/keys",
    summary: "Read the keys that a tenant's deliveries are signed with",
    answers: [{ status: 200, says: "Both keys", schema: keysSchema }],
    faults: ["not_found"],
  },
  {
    method: "post",
    path: "/v2/tenants/{id}/keys/rotate",
    summary: "Rotate the keys: next becomes current, and there is a new next",
    answers: [{ status: 200, says: "Both keys", schema: keysSchema }],
    faults: ["forbidden", "not_found"],
  },
];

export const managementEndpoints: readonly EndpointEntry[] = entries.map((entry) => ({
  ...entry,
  api: "management",
}));
