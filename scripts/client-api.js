// Generates `libs/client/src/api.ts` from docs/openapi.json: the route of each operation, the types of its arguments and
// answers, and the settings of a publish.
import { compile } from "json-schema-to-typescript";

const json = "application/json";
const nothing = { tsType: "undefined" };
/** The type of a query parameter. If a parameter takes several values, a list is sent as one text with commas. */
const parameter = { tsType: "Parameter" };

export async function renderClientApi(openApi) {
  const { paths, components } = JSON.parse(withDefinitions(openApi), plainReference);
  const { Error: refusal, ...schemas } = components.schemas;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
  const [routed, raw] = partition(operations, ({ path }) => !path.endsWith("{destination}"));
  const settings = raw[0].parameters.filter((each) => each.in === "header");
  return [
    "/** Made by `npm run generate` from the tables of endpoints and headers: not to be edited. */",
    "/** Several values are sent one by one. */",
    "export type Parameter = string | number | boolean | readonly (string | number)[];",
    "export type OneOrMany = string | number | boolean | (string | number | boolean)[];",
    "/** A body in which the parameters of the query may stand instead. */",
    "export type InBody<Query> = { [Name in keyof Query]: OneOrMany | null };",
    "/** A list is sent with commas between its elements. */",
    "export type Setting = string | number | boolean | readonly string[];",
    `export const gatewayRoutes = ${routesOf(routed.filter((each) => !each.servers))} as const;`,
    `export const managementRoutes = ${routesOf(routed.filter((each) => each.servers))} as const;`,
    "/** The operations that retry, pause, resume or cancel what is there. */",
    `export const acts = ${JSON.stringify(actsOf(operations))} as const;`,
    `export const targets = ${targetsOf(raw)} as const;`,
    ...settingNames(settings),
    settingsType(settings),
    faultCodes(components.headers["Posthaste-Fault"]),
    await typesOf(operations, { ...schemas, Refusal: refusal }),
  ].join("\n\n");
}

/** Renames the schema `Error`, which TypeScript has already. */
const withDefinitions = (openApi) =>
  openApi
    .replaceAll("#/components/schemas/", "#/$defs/")
    .replaceAll('"#/$defs/Error"', '"#/$defs/Refusal"');

/** Leaves out a description beside a reference, for which the compiler would write the whole type again. */
const plainReference = (_, value) => (value?.$ref ? { $ref: value.$ref } : value);

const partition = (all, holds) => [all.filter(holds), all.filter((each) => !holds(each))];

const version = "/v2/";

const routesOf = (operations) =>
  JSON.stringify(
    Object.fromEntries(
      operations.map(({ operationId, method, path }) => [
        operationId,
        `${method} ${path.replace(version, "")}`,
      ]),
    ),
  );

/** Returns the operations that the scope `operate` or the role `operator` may do, and `read` or `viewer` may not. */
const actsOf = (operations) =>
  operations
    .filter(({ "x-scopes": scopes = [], "x-roles": roles = [] }) => {
      const may = [...scopes, ...roles];
      const mayOperate = may.includes("operate") || may.includes("operator");
      return mayOperate && !may.includes("read") && !may.includes("viewer");
    })
    .map(({ operationId }) => operationId);

const targetsOf = (operations) =>
  JSON.stringify(
    Object.fromEntries(
      operations.map(({ operationId, path }) => [
        operationId,
        path.replace("/{destination}", "").replace(version, ""),
      ]),
    ),
  );

const isPattern = (name) => name.endsWith("*");
const camel = (suffix) =>
  suffix.replaceAll(/(^|-)(.)/g, (_, dash, letter) =>
    dash ? letter.toUpperCase() : letter.toLowerCase(),
  );
const suffixOf = ({ name }) => name.replace(/^Service-/, "");

/** Derives the setting names from the headers. Written out they would be a tenth of the package. */
const settingNames = (settings) => [
  `const suffixes = ${JSON.stringify(
    settings
      .map(suffixOf)
      .filter((suffix) => !isPattern(suffix))
      .join(" "),
  )};`,
  `const named = (suffix: string): string =>
    suffix.replaceAll(/(^|-)(.)/g, (_, dash: string, letter: string) =>
      dash ? letter.toUpperCase() : letter.toLowerCase());`,
  "/** The header of each setting, without its prefix. */",
  `export const settingNames = Object.fromEntries(
    suffixes.split(" ").map((suffix) => [named(suffix), suffix]),
  ) as Readonly<Record<keyof Settings, string>>;`,
];

/** Each setting, with its rule as the comment. Forwarded headers are separate options, by the header's own name. */
const settingsType = (settings) =>
  [
    "/** The headers that configure a message, a callback, a run or a schedule. */",
    "export type Settings = {",
    ...settings
      .filter(({ name }) => !isPattern(name))
      .flatMap((setting) => [
        `/** ${setting.description} */`,
        `readonly ${camel(suffixOf(setting))}?: Setting | undefined;`,
      ]),
    "};",
  ].join("\n");

const faultCodes = ({ schema }) =>
  [
    "/** What a refusal may be: docs/errors.md. */",
    `export type FaultCode = ${schema.enum.map((code) => JSON.stringify(code)).join(" | ")};`,
  ].join("\n");

async function typesOf(operations, schemas) {
  const specs = operations.map((operation) => [operation.operationId, specOf(operation)]);
  const whole = { ...objectOf(Object.fromEntries(specs)), title: "Operations", $defs: schemas };
  const types = await compile(whole, "Operations", {
    additionalProperties: false,
    bannerComment: "",
    format: false,
    unreachableDefinitions: false,
  });
  return types.replaceAll(/\/\*\*\n *\* (.*)\n *\*\//g, "/** $1 */");
}

const objectOf = (properties, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

function specOf({ operationId, path, parameters = [], requestBody, responses }) {
  const named = (place) => parameters.filter((each) => each.in === place).map(({ name }) => name);
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([, answer]) => [
      answer.content?.[json].schema ?? nothing,
      ...(answer["x-may-be-empty"] ? [nothing] : []),
    ])
    .flatMap((schema) => schema.anyOf ?? [schema]);
  const query = Object.fromEntries(named("query").map((name) => [name, parameter]));
  const schema = requestBody?.content[json]?.schema;
  const isQuery =
    schema?.properties && Object.keys(schema.properties).join() === named("query").join();
  const body = isQuery ? { tsType: `InBody<Operations["${operationId}"]["query"]>` } : schema;
  const isTarget = path.endsWith("{destination}");
  return objectOf({
    ...(Object.keys(query).length > 0 && !isTarget && { query: objectOf(query, []) }),
    ...(body && { body }),
    answer: unionOf(answers),
  });
}

function unionOf(schemas) {
  const different = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  return different.size === 1 ? schemas[0] : { anyOf: [...different.values()] };
}
