/** Tenants, their plans, tokens and signing keys, as the management API shows and takes them. */
import {
  type Dialect,
  type Fault,
  isFault,
  type Plan,
  planBounds,
  type PlanLimits,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import * as z from "zod";
import { parseJson } from "../bodies/json.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { isTenantId } from "../wire/text.ts";
import { oneOf, strictObject, wholeNumber } from "./fields.ts";

const dialect = oneOf(["service", "upstash"]).describe(
  "The family of headers that its messages carry when a publish uses none",
);
const scope = oneOf(["full", "read"]).describe("`read` may not change anything");

export const idOfTenant = z
  .string("must be a string")
  .refine(isTenantId, "must be 1 to 64 letters, digits, '-' and '_'");

const limit = (key: keyof PlanLimits) => wholeNumber(planBounds[key]);
const planSchema = strictObject({
  retriesDefault: limit("retriesDefault").describe("Retries of a publish that names none"),
  retriesMax: limit("retriesMax"),
  delayMsMax: limit("delayMsMax"),
  timeoutMsMax: limit("timeoutMsMax"),
  bodyBytesMax: limit("bodyBytesMax"),
  responseBytesMax: limit("responseBytesMax").describe("What is kept of a response"),
  groupEndpointsMax: limit("groupEndpointsMax"),
  backlogMax: limit("backlogMax").describe("Messages that are not yet delivered"),
} satisfies Record<keyof PlanLimits, z.ZodType>);

export const tenantSchema = z
  .object({ id: z.string(), dialect, plan: planSchema })
  .meta({ id: "Tenant" });

export const tokenSchema = z
  .object({
    id: z.string().describe("Names the token, and does not let anybody in"),
    scope,
    createdAt: z.int().optional().describe("Unix timestamp in milliseconds"),
  })
  .meta({ id: "Token" });

export const newTokenSchema = tokenSchema
  .extend({ token: z.string().describe("Shown this once: only its hash is kept") })
  .meta({ id: "NewToken" });

export type TenantJson = JsonOf<typeof tenantSchema>;
export type TokenJson = JsonOf<typeof tokenSchema>;
export type NewTokenJson = JsonOf<typeof newTokenSchema>;

export const createTenantSchema = strictObject({
  id: idOfTenant,
  dialect: dialect.optional(),
  plan: planSchema.partial().optional(),
});
export const changeTenantSchema = strictObject({
  dialect: dialect.optional(),
  plan: planSchema.partial().optional(),
});
export const createTokenSchema = strictObject({ scope });

/** What a tenant is to have; what is absent stays as it is, or as the default plan has it. */
export type TenantSettings = {
  readonly dialect: Dialect | undefined;
  readonly limits: { readonly [K in keyof PlanLimits]?: number | undefined };
};

export function parseCreateTenant(
  body: Uint8Array,
): (TenantSettings & { readonly id: TenantId }) | Fault {
  const parsed = parseJson(body, createTenantSchema);
  if (isFault(parsed)) return parsed;
  return { id: tenantId(parsed.id), dialect: parsed.dialect, limits: parsed.plan ?? {} };
}

export function parseChangeTenant(body: Uint8Array): TenantSettings | Fault {
  const parsed = parseJson(body, changeTenantSchema);
  return isFault(parsed) ? parsed : { dialect: parsed.dialect, limits: parsed.plan ?? {} };
}

export function parseCreateToken(body: Uint8Array): { readonly scope: "full" | "read" } | Fault {
  return parseJson(body, createTokenSchema);
}

/** The limits that are a tenant's own. */
export const planJson = (plan: Plan): TenantJson["plan"] => ({
  retriesDefault: plan.retriesDefault,
  retriesMax: plan.retriesMax,
  delayMsMax: plan.delayMsMax,
  timeoutMsMax: plan.timeoutMsMax,
  bodyBytesMax: plan.bodyBytesMax,
  responseBytesMax: plan.responseBytesMax,
  groupEndpointsMax: plan.groupEndpointsMax,
  backlogMax: plan.backlogMax,
});
