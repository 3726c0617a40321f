/** Tenants and their plans in the management API. */
import {
  type Dialect,
  dialects,
  type Fault,
  isFault,
  type Plan,
  planBounds,
  type PlanLimits,
  type TenantId,
  tenantId,
} from "@posthaste/domain";
import * as z from "zod";
import { jsonBytesMax, parseJson, strictObject } from "../bodies/json.ts";
import { type BodyRow, endpoint } from "../endpoints/endpoint.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { isTenantId } from "../wire/text.ts";
import { oneOf, wholeNumber } from "./fields.ts";

const dialect = oneOf(dialects).describe(
  "The family of headers of the tenant's messages if a publish uses none",
);
export const idOfTenant = z
  .string("must be a string")
  .refine(isTenantId, "must be 1 to 64 letters, digits, '-' and '_'");

const limit = (key: keyof PlanLimits) => wholeNumber(planBounds[key]);
export const planSchema = strictObject({
  retriesDefault: limit("retriesDefault").describe("Retries of a publish that does not set them"),
  retriesMax: limit("retriesMax"),
  delayMsMax: limit("delayMsMax"),
  timeoutMsDefault: limit("timeoutMsDefault").describe(
    "Timeout of a publish that does not set one",
  ),
  timeoutMsMax: limit("timeoutMsMax"),
  bodyBytesMax: limit("bodyBytesMax"),
  batchBytesMax: limit("batchBytesMax").describe("Bytes of a whole batch as it is sent"),
  responseBytesMax: limit("responseBytesMax").describe("Bytes of a response that are kept"),
  groupEndpointsMax: limit("groupEndpointsMax"),
  groupsMax: limit("groupsMax"),
  queuesMax: limit("queuesMax"),
  queueParallelismMax: limit("queueParallelismMax").describe("The highest parallelism of a queue"),
  schedulesMax: limit("schedulesMax"),
  parallelismMax: limit("parallelismMax").describe("Calls at once; the highest value means no cap"),
  messagesPerDayMax: limit("messagesPerDayMax").describe(
    "Messages in a day of UTC; the highest value means no quota",
  ),
  listsPerSecondMax: limit("listsPerSecondMax").describe(
    "Lists in a second at each gateway; the highest value means no quota",
  ),
  logMs: limit("logMs").describe("How long the events of messages are kept"),
  keepBodiesMs: limit("keepBodiesMs").describe(
    "How long the bodies of ended messages are kept; at most as long as the log",
  ),
  deadLetterMs: limit("deadLetterMs").describe("How long dead letters are kept"),
  backlogMax: limit("backlogMax").describe("Messages that have not ended"),
} satisfies Record<keyof PlanLimits, z.ZodType>);

const tenantSchema = z.object({ id: z.string(), dialect, plan: planSchema }).meta({ id: "Tenant" });

export type TenantJson = JsonOf<typeof tenantSchema>;

const createTenantSchema = strictObject({
  id: idOfTenant,
  dialect: dialect.optional(),
  plan: planSchema.partial().optional(),
});
const changeTenantSchema = strictObject({
  dialect: dialect.optional(),
  plan: planSchema.partial().optional(),
});

/** Settings of a tenant. Absent ones stay as they are, or have the value of the default plan. */
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

const createBody: BodyRow<TenantSettings & { readonly id: TenantId }> = {
  schema: createTenantSchema,
  bytesMax: jsonBytesMax,
  parse: parseCreateTenant,
};
const changeBody: BodyRow<TenantSettings> = {
  schema: changeTenantSchema,
  bytesMax: jsonBytesMax,
  parse: parseChangeTenant,
};

export const tenants = {
  listTenants: endpoint({
    method: "get",
    path: "/v2/tenants",
    kind: "list",
    summary: "List tenants",
    answers: { 200: { says: "All tenants", schema: z.array(tenantSchema), inPieces: true } },
    faults: ["forbidden"],
  }),
  createTenant: endpoint({
    method: "post",
    path: "/v2/tenants",
    kind: "write",
    summary: "Make a tenant, with signing keys and without tokens",
    body: createBody,
    namedBy: ({ id }) => id,
    answers: { 201: { says: "Made", schema: tenantSchema } },
    faults: ["forbidden", "conflict", "beyond_plan", "too_large"],
  }),
  readTenant: endpoint({
    method: "get",
    path: "/v2/tenants/{id}",
    kind: "read",
    summary: "Read a tenant",
    answers: { 200: { says: "The tenant", schema: tenantSchema } },
    faults: ["forbidden", "not_found"],
  }),
  changeTenant: endpoint({
    method: "patch",
    path: "/v2/tenants/{id}",
    kind: "write",
    summary: "Change a tenant's dialect or limits; absent fields stay",
    body: changeBody,
    answers: { 200: { says: "The tenant", schema: tenantSchema } },
    faults: ["forbidden", "not_found", "too_large"],
  }),
  closeTenant: endpoint({
    method: "delete",
    path: "/v2/tenants/{id}",
    kind: "write",
    summary:
      "Close a tenant: its tokens are removed, its accepted messages are still delivered, its id is never used again",
    answers: { 200: { says: "Closed" } },
    faults: ["forbidden", "not_found", "conflict"],
  }),
};

/** The limits of a plan that may differ from tenant to tenant. */
export const planJson = (plan: Plan): TenantJson["plan"] => ({
  retriesDefault: plan.retriesDefault,
  retriesMax: plan.retriesMax,
  delayMsMax: plan.delayMsMax,
  timeoutMsDefault: plan.timeoutMsDefault,
  timeoutMsMax: plan.timeoutMsMax,
  bodyBytesMax: plan.bodyBytesMax,
  batchBytesMax: plan.batchBytesMax,
  responseBytesMax: plan.responseBytesMax,
  groupEndpointsMax: plan.groupEndpointsMax,
  groupsMax: plan.groupsMax,
  queuesMax: plan.queuesMax,
  queueParallelismMax: plan.queueParallelismMax,
  schedulesMax: plan.schedulesMax,
  parallelismMax: plan.parallelismMax,
  messagesPerDayMax: plan.messagesPerDayMax,
  listsPerSecondMax: plan.listsPerSecondMax,
  logMs: plan.logMs,
  keepBodiesMs: plan.keepBodiesMs,
  deadLetterMs: plan.deadLetterMs,
  backlogMax: plan.backlogMax,
});
