/** The caller's own token: its tenant, its rights and its plan. */
import * as z from "zod";
import { planJson, planSchema } from "../management/tenants.ts";
import { scope } from "../management/tokens.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";

const meSchema = z
  .object({ tenant: z.string().describe("The id of the tenant"), scope, plan: planSchema })
  .meta({ id: "Me" });

export const me = {
  readMe: endpoint({
    method: "get",
    path: "/v2/me",
    kind: "self",
    summary: "Read the token of this request: its tenant, its scope and the plan",
    answers: { 200: { says: "The token", schema: meSchema } },
    faults: [],
  }),
};

type MeJson = JsonOf<typeof meSchema>;

export const meJson = (
  { id, plan }: { readonly id: string; readonly plan: Parameters<typeof planJson>[0] },
  ofToken: MeJson["scope"],
): MeJson => ({ tenant: id, scope: ofToken, plan: planJson(plan) });
