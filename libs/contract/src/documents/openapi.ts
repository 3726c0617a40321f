/** Renders `docs/openapi.json`, OpenAPI 3.1, from the endpoint table, the header table and the schemas. */
import { type FaultCode, rolesFor, scopesFor } from "@posthaste/domain";
import * as z from "zod";
import { faultCatalogue, faultHeader } from "../faults/catalogue.ts";
import { headerRules } from "../headers/table.ts";
import { errorSchema } from "../representations/schemas.ts";
import { type EndpointEntry } from "./endpoint-entry.ts";
import { endpoints, faultsEverywhere } from "./endpoints.ts";
import { exampleOf, pathExamples } from "./examples.ts";
import { parameterRules } from "./parameters.ts";
import { tagOf, tags } from "./tags.ts";

const json = "application/json";

export function renderOpenApi(): string {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const entry of endpoints) {
    const path = (paths[entry.path] ??= {});
    path[entry.method] = operation(entry, components);
  }
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Posthaste",
      version: "2",
      description:
        "HTTP message delivery. Each header named Service-… may be written Upstash-… instead; one request must not mix the two. Each refusal has its code in the header Posthaste-Fault. A token may do the operations whose `x-scopes` list its scope, an operator those whose `x-roles` list the operator's role.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ token: [] }],
    tags,
    paths,
    components: {
      schemas: components.schemas,
      responses: components.refusals,
      headers: {
        [faultHeader]: {
          description: "The code of the refusal",
          schema: { enum: Object.keys(faultCatalogue) },
        },
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        operator: { type: "http", scheme: "basic" },
      },
    },
  };
  return JSON.stringify(document, undefined, 2).replaceAll("#/$defs/", "#/components/schemas/");
}

function operation(entry: EndpointEntry, components: Components): object {
  const parameters = [
    ...pathParameters(entry),
    ...queryParameters(entry),
    ...headerParameters(entry),
  ];
  return {
    operationId: entry.operation,
    summary: entry.summary,
    tags: [tagOf(entry.operation)],
    ...(entry.api === "management"
      ? {
          servers: managementServers,
          security: [{ operator: [] }],
          "x-roles": rolesFor({ kind: entry.kind }),
        }
      : { "x-scopes": scopesFor({ kind: entry.kind, queue: queueIn(entry) }) }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(entry, components),
    responses: { ...answers(entry, components), ...refusals(entry, components) },
  };
}

const queueIn = ({ path }: EndpointEntry): string | undefined =>
  path.includes("{queueName}") ? "{queueName}" : undefined;

const managementServers = [
  { url: "http://127.0.0.1:8082", description: "The management API has a listener of its own" },
];

const pathParameters = ({ operation, path }: EndpointEntry): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...shownAs(exampleOf(operation).path?.[name] ?? pathExamples[name]),
  }));

const queryParameters = ({ operation, query }: EndpointEntry): object[] =>
  [...(query?.names ?? [])].map((name) => ({
    name,
    in: "query",
    description: parameterRules[name],
    schema: { type: "string" },
    ...shownAs(exampleOf(operation).query?.[name]),
  }));

const headerParameters = ({ isRaw, operation }: EndpointEntry): object[] =>
  isRaw
    ? headerRules.map(({ example, fallback, suffix, rule }) => ({
        name: `Service-${suffix}`,
        in: "header",
        description: rule,
        schema: { type: "string" },
        // Extensions, since a page that tries the operation would fill in `example`.
        ...{ "x-default": fallback, "x-example": example },
        ...shownAs(exampleOf(operation).headers?.[`Service-${suffix}`]),
      }))
    : [];

const shownAs = (example: unknown): object => (example === undefined ? {} : { example });

function requestBody({ body, isRaw, operation }: EndpointEntry, components: Components): object {
  const example = shownAs(exampleOf(operation).body);
  if (isRaw) {
    const content = { "application/json": example, "*/*": {} };
    return { requestBody: { description: "Any bytes, sent unchanged", content } };
  }
  if (!body?.schema) return {};
  const { [json]: described } = components.content(body.schema);
  return { requestBody: { required: true, content: { [json]: { ...described, ...example } } } };
}

const answers = ({ answers }: EndpointEntry, components: Components): Record<string, object> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { says, schema, headers, mayBeEmpty }]) => [
      status,
      {
        description: says,
        ...(headers && { headers: headersOf(headers) }),
        ...(schema && { content: components.content(schema) }),
        ...(mayBeEmpty && { "x-may-be-empty": true }),
      },
    ]),
  );

const headersOf = (headers: Readonly<Record<string, string>>): Record<string, object> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, says]) => [
      name,
      { description: says, schema: { type: "string" } },
    ]),
  );

/** Faults of one status share its response. */
function refusals({ faults }: EndpointEntry, components: Components): Record<string, object> {
  const codes = [...faults, ...faultsEverywhere];
  const statuses = new Set(codes.map((code) => faultCatalogue[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      components.refusal(codes.filter((code) => faultCatalogue[code].status === status)),
    ]),
  );
}

/** Schemas with an id and refusals become components, and everything else refers to them. */
class Components {
  readonly schemas: Record<string, object> = {};
  readonly refusals: Record<string, object> = {};

  refusal(codes: readonly FaultCode[]): { readonly $ref: string } {
    const name = codes.join("_or_");
    this.refusals[name] ??= {
      description: codes.map((code) => faultCatalogue[code].title).join(", or "),
      content: this.content(errorSchema),
    };
    return { $ref: `#/components/responses/${name}` };
  }

  content(schema: z.ZodType): { readonly [json]: object } {
    const {
      $schema: _,
      $defs,
      ...described
    } = z.toJSONSchema(z.object({ schema }), { override, io: "input" });
    for (const [id, definition] of Object.entries($defs ?? {})) {
      if (typeof definition === "object") this.schemas[id] = withoutId(definition);
    }
    return { [json]: { schema: described.properties?.["schema"] } };
  }
}

const withoutId = ({ id: _, ...definition }: object & { id?: unknown }): object => definition;

/** Leaves out the bounds of safe integers, which are implied. */
function override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
