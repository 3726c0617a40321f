/** The bodies of `POST` and `DELETE /v2/topics/{name}/endpoints` (interface.md; protocol/qstash.md §1.7). */
import { type Endpoint, type Fault, type Plan, fault, isFault, limits } from "@posthaste/domain";
import * as z from "zod";
import { parseJson } from "./json.ts";

const endpointNameLengthMax = 128;

const url = z
  .string("must be a string")
  .min(1, "must not be empty")
  .max(limits.urlLengthMax, `must be at most ${limits.urlLengthMax} characters`);
const name = z
  .string("must be a string")
  .min(1, "must not be empty")
  .max(endpointNameLengthMax, `must be at most ${endpointNameLengthMax} characters`);
const list = <S extends z.ZodType>(element: S) =>
  z.array(element, "must be an array").min(1, "must hold at least one endpoint");
const anObject = "must be an object";

export const upsertEndpointsSchema = z.object(
  { endpoints: list(z.object({ url, name: name.nullish() }, anObject)) },
  anObject,
);
export const removeEndpointsSchema = z.object(
  {
    endpoints: list(
      z
        .object({ url: url.nullish(), name: name.nullish() }, anObject)
        .refine((endpoint) => endpoint.url ?? endpoint.name, "must have a url or a name"),
    ),
  },
  anObject,
);

export type EndpointJudges = {
  readonly plan: Plan;
  readonly checkDestination: (url: string, field: string) => Fault | undefined;
};

/** Whether the group as a whole stays within the plan is for whoever adds them to it. */
export function parseUpsertEndpoints(
  body: Uint8Array,
  { plan, checkDestination }: EndpointJudges,
): readonly Endpoint[] | Fault {
  const parsed = parseJson(body, upsertEndpointsSchema);
  if (isFault(parsed)) return parsed;
  const { endpoints } = parsed;
  if (endpoints.length > plan.groupEndpointsMax) {
    const text = `quota maxEndpointsPerTopic exceeded, current limit: ${plan.groupEndpointsMax}`;
    return fault("beyond_plan", text);
  }
  for (const [index, endpoint] of endpoints.entries()) {
    const refused = checkDestination(endpoint.url, `endpoints[${index}].url`);
    if (refused) return refused;
  }
  return endpoints.map((endpoint) => ({ url: endpoint.url, ...nameOf(endpoint) }));
}

export type EndpointSelector = { readonly name?: string; readonly url?: string };

/** What is removed is not judged: it may have been added under another policy. */
export function parseRemoveEndpoints(body: Uint8Array): readonly EndpointSelector[] | Fault {
  const parsed = parseJson(body, removeEndpointsSchema);
  if (isFault(parsed)) return parsed;
  return parsed.endpoints.map((endpoint) => ({
    ...(typeof endpoint.url === "string" && { url: endpoint.url }),
    ...nameOf(endpoint),
  }));
}

const nameOf = (endpoint: { readonly name?: string | null | undefined }) =>
  typeof endpoint.name === "string" ? { name: endpoint.name } : {};
