/** A tenant's tokens as the management API shows and takes them. */
import { tokenScopes } from "@posthaste/domain";
import * as z from "zod";
import { jsonBody } from "../bodies/json-body.ts";
import { strictObject } from "../bodies/strict-object.ts";
import { endpoint } from "../endpoints/endpoint.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { oneOf } from "./fields.ts";

export const scope = oneOf(tokenScopes).describe("`read` may not change anything");

const tokenSchema = z
  .object({
    id: z.string().describe("Names the token, and is no secret"),
    scope,
    createdAt: z.int().optional().describe("Unix timestamp in milliseconds"),
  })
  .meta({ id: "Token" });

const newTokenSchema = tokenSchema
  .extend({ token: z.string().describe("Shown this once: only its hash is kept") })
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
    summary: "Make a token",
    body: jsonBody(strictObject({ scope })),
    answers: { 201: { says: "Made, and shown this once", schema: newTokenSchema } },
    faults: ["forbidden", "not_found", "beyond_plan", "too_large"],
  }),
  revokeToken: endpoint({
    method: "delete",
    path: "/v2/tenants/{id}/tokens/{tokenId}",
    kind: "write",
    summary: "Revoke a token: it works for five seconds more at most",
    answers: { 200: { says: "Revoked" } },
    faults: ["forbidden", "not_found"],
  }),
};
