/** The reference of the API as pages: one for each group of operations of docs/openapi.json, and one of schemas. Pure. */
import { slugOf } from "../../../scripts/links.ts";
import { type Item } from "./navigation.ts";

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: Schema | boolean;
};
type Content = Readonly<
  Record<string, { readonly schema?: Schema; readonly example?: unknown } | undefined>
>;
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly "x-default"?: string;
  readonly "x-example"?: string;
};
type Reference = { readonly $ref: string };
type Answer = { readonly description: string; readonly content?: Content };
type Operation<Told extends Reference | Answer = Answer> = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly tags: readonly string[];
  readonly servers?: readonly { readonly url: string }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly required?: boolean;
    readonly content: Content;
  };
  readonly responses: Readonly<Record<string, Told>>;
  readonly "x-scopes"?: readonly string[];
  readonly "x-roles"?: readonly string[];
};
export type OpenApi = {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation<Reference | Answer>>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
};
type Placed = Operation & { readonly method: string; readonly path: string };

/** Refusals that nearly every operation has, described once. */
const commonRefusals = new Set(["401", "403", "405", "408", "429", "431", "500", "503"]);
/** Nested schemas are shown to this depth, then named by their type. */
const depthMax = 4;
/** Matches the settings of callbacks, which are those of messages again. */
const ofCallbacks = /^Service-(?:Failure-)?Callback-/;

/** Returns the text of each page by its path under `api/`, and the entries that lead to them. */
export function apiPages(document: OpenApi): {
  readonly pages: ReadonlyMap<string, string>;
  readonly sidebar: readonly Item[];
} {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Placed => ({
      ...{ ...operation, method, path },
      responses: answersOf(operation, document),
    })),
  );
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    slug: slugOf(name),
    own: operations.filter(({ tags }) => tags.includes(name)),
  }));
  const pages = new Map(
    groups.map(({ name, description, slug, own }) => [
      `${slug}.md`,
      [`# ${name}`, `${escape(description)}.`, ...own.map(operationText)].join("\n\n"),
    ]),
  );
  pages.set("schemas.md", schemasText(document));
  pages.set("index.md", indexText(document, groups));
  const sidebar = [
    { text: "The API", link: "/api/" },
    ...groups.map(({ name, slug, own }) => ({
      text: name,
      link: `/api/${slug}`,
      collapsed: true,
      items: own.map((operation) => ({
        text: `${operation.method.toUpperCase()} ${operation.path.replace("/v2", "")}`,
        link: `/api/${slug}#${anchorOf(operation)}`,
      })),
    })),
    { text: "Schemas", link: "/api/schemas" },
  ];
  return { pages, sidebar };
}

const answersOf = (
  { responses }: Operation<Reference | Answer>,
  { components }: OpenApi,
): Readonly<Record<string, Answer>> =>
  Object.fromEntries(
    Object.entries(responses).flatMap(([status, told]) => {
      const answer =
        "$ref" in told ? components.responses[told.$ref.split("/").at(-1) ?? ""] : told;
      return answer ? [[status, answer]] : [];
    }),
  );

const anchorOf = ({ method, operationId }: Placed): string =>
  `${method}-${operationId.toLowerCase()}`;

function indexText(
  { info }: OpenApi,
  groups: readonly { name: string; slug: string; description: string; own: readonly Placed[] }[],
): string {
  return [
    "# The API",
    escape(info.description),
    `Every operation may also be refused with ${[...commonRefusals].join(", ")}; [Errors](/errors.md) has every refusal. A running server shows the same reference at \`/docs/\`, where calls can be tried. For generators: <a href="../openapi.json" target="_blank">openapi.json</a>.`,
    ...groups.map(({ name, slug, description, own }) =>
      [
        `## [${name}](/api/${slug}.md)`,
        `${escape(description)}.`,
        table(
          ["operation", "does"],
          own.map((operation) => [
            `[${line(operation)}](/api/${slug}.md#${anchorOf(operation)})`,
            escape(operation.summary),
          ]),
        ),
      ].join("\n\n"),
    ),
  ].join("\n\n");
}

const line = ({ method, path }: Placed): string => `\`${method.toUpperCase()} ${path}\``;

function operationText(operation: Placed): string {
  const { summary, description, deprecated, servers, parameters = [], requestBody } = operation;
  const who = servers
    ? `The operator’s API, at a port of its own. Roles: ${codes(operation["x-roles"])}.`
    : operation["x-scopes"] && `Scopes: ${codes(operation["x-scopes"])}.`;
  const [repeated, own] = partition(parameters, ({ name }) => ofCallbacks.test(name));
  return [
    `## ${escape(summary)} {:#${anchorOf(operation)}}`,
    `<p class="operation"><span class="method ${operation.method}">${operation.method.toUpperCase()}</span><code v-pre>${operation.path}</code></p>`,
    ...[deprecated && "Deprecated.", description && escape(description), who].filter(isText),
    own.length > 0 ? parametersText(own) : "",
    repeated.length > 0
      ? `::: details ${repeated.length} more: the same settings for callbacks and failure callbacks\n${parametersText(repeated)}\n:::`
      : "",
    requestBody ? bodyText(requestBody) : "",
    answersText(operation),
  ]
    .filter(isText)
    .join("\n\n");
}

const codes = (names: readonly string[] = []): string =>
  names.map((name) => `\`${name}\``).join(", ");

const parametersText = (parameters: readonly Parameter[]): string =>
  table(
    ["parameter", "meaning", "default", "example"],
    parameters.map((parameter) => [
      `\`${parameter.name}\`<br><small>${parameter.in}${parameter.required === true ? ", required" : ""}</small>`,
      escape(parameter.description ?? ""),
      escape(parameter["x-default"] ?? ""),
      code(parameter["x-example"] ?? parameter.example),
    ]),
  );

function bodyText({ description, content }: NonNullable<Operation["requestBody"]>): string {
  const texts = Object.entries(content).flatMap(([type, media]) => [
    ...(media?.schema ? [`\`${type}\``, schemaText(media.schema)] : []),
    ...(media?.example === undefined
      ? []
      : [`\`\`\`json\n${JSON.stringify(media.example, undefined, 2)}\n\`\`\``]),
  ]);
  return ["**Body**", escape(description ?? ""), ...texts].filter(isText).join("\n\n");
}

function answersText({ responses }: Operation): string {
  const told = Object.entries(responses).filter(([status]) => !commonRefusals.has(status));
  const rows = told.map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return [`**${status}**`, escape(description), schema ? typeOf(schema) : ""];
  });
  const inline = told.flatMap(([status, { content }]) => {
    const schema = content?.["application/json"]?.schema;
    return schema?.properties ? [`\`${status}\``, schemaText(schema)] : [];
  });
  return [table(["answer", "meaning", "body"], rows), ...inline].join("\n\n");
}

function schemasText({ components: { schemas } }: OpenApi): string {
  const texts = Object.entries(schemas).map(([name, schema]) =>
    [`## ${name}`, escape(schema.description ?? ""), schemaText(schema)]
      .filter(isText)
      .join("\n\n"),
  );
  return ["# Schemas", ...texts].join("\n\n");
}

/** Returns a table of the fields, or the type if there are none. */
function schemaText(schema: Schema): string {
  const rows = fieldsOf(schema, "", depthMax);
  return rows.length > 0 ? table(["field", "type", "meaning"], rows) : typeOf(schema);
}

function fieldsOf(schema: Schema, prefix: string, depth: number): readonly (readonly string[])[] {
  if (depth === 0) return [];
  if (schema.items && !schema.items.$ref) return fieldsOf(schema.items, `${prefix}[]`, depth);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const type = typeOf(field);
    const row = [`\`${path}\`${isRequired ? "" : "?"}`, type, escape(field.description ?? "")];
    return [row, ...(field.$ref ? [] : fieldsOf(field, path, depth - 1))];
  });
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return `[${name}](/api/schemas.md#${slugOf(name)})`;
  }
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return [...new Set(either.map(typeOf))].join(" or ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === "object")
    return `object of ${typeOf(schema.additionalProperties)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

const code = (value: unknown): string =>
  value === undefined ? "" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** Escapes marks of HTML and of emphasis in Markdown. Code in backticks stays as it is. */
const escape = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, nth) => (nth % 2 === 1 ? part : part.replace(/[<>*_]/g, (mark) => `\\${mark}`)))
    .join("")
    .replaceAll("\n", " ");

const isText = (text: string | false | undefined): text is string =>
  typeof text === "string" && text !== "";

function partition<Each>(all: readonly Each[], isFirst: (each: Each) => boolean) {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))] as const;
}
