/** A tenant's tokens in the management API. */
import { tokenScopePattern } from "@posthaste/domain";
import * as z from "zod";
import { jsonBody, strictObject } from "../bodies/json.ts";
import { endpoint } from "../endpoints/endpoint.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { line, wholeNumber } from "./fields.ts";

const scopeRule = "must be full, operate, read, publish or queue:NAME";

export const scope = z
  .string(scopeRule)
  .regex(tokenScopePattern, scopeRule)
  .describe(
    "`full` may do everything; `read` reads everything except signing keys, and changes nothing; `operate` may also retry, pause, resume and cancel; `publish` may publish and start runs, and read nothing; `queue:NAME` may do the operations whose path names that queue, and no others",
  );

/** The last millisecond of the year 9999. */
const expiresAtMax = 253_402_300_799_999;
const nameLengthMax = 64;

const tokenSchema = z
  .object({
    id: z.string().describe("Names the token; not secret"),
    scope,
    name: z.string().optional().describe("A name, given by the operator"),
    createdAt: z.int().optional().describe("Unix timestamp in milliseconds"),
    expiresAt: z
      .int()
      .optional()
      .describe("Unix timestamp in milliseconds from which the token is refused"),
    lastUsedAt: z
      .int()
      .optional()
      .describe("Unix timestamp in milliseconds, to about a minute; absent before the first use"),
  })
  .meta({ id: "Token" });

const createTokenSchema = strictObject({
  scope,
  name: line(1, nameLengthMax).optional(),
  expiresAt: wholeNumber({ min: 0, max: expiresAtMax }).optional(),
});
export type CreateToken = JsonOf<typeof createTokenSchema>;

const newTokenSchema = tokenSchema
  .extend({ token: z.string().describe("Shown only once: only its hash is kept") })
  .meta({ id: "NewToken" });

export type TokenJson = JsonOf<typeof tokenSchema>;

export const tokens = {
  listTokens: endpoint({
    method: "get",
    path: "/v2/tenants/{id}/tokens",
    kind: "list",
    summary: "List a tenant's tokens, oldest first, without the tokens themselves",
    answers: { 200: { says: "All tokens", schema: z.array(tokenSchema), isLarge: true } },
    faults: ["forbidden", "not_found"],
  }),
  createToken: endpoint({
    method: "post",
    path: "/v2/tenants/{id}/tokens",
    kind: "write",
    summary: "Make a token, with or without an expiry",
    body: jsonBody(createTokenSchema),
    answers: { 201: { says: "Made, and shown only once", schema: newTokenSchema } },
    faults: ["forbidden", "not_found", "beyond_plan", "too_large"],
  }),
  revokeToken: endpoint({
    method: "delete",
    path: "/v2/tenants/{id}/tokens/{tokenId}",
    kind: "write",
    summary: "Revoke a token, which works for at most five seconds more",
    answers: { 200: { says: "Revoked" } },
    faults: ["forbidden", "not_found"],
  }),
};
