/**
 * Checks an answer against docs/openapi.json, as a reader who knows nothing else would: the operation lists the
 * status, and the body fits its schema, with no field beyond the schema.
 */
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { objectOf } from "./json.ts";
import { recordAnswer } from "./seen.ts";

export type Answer = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: unknown;
  readonly text: string;
};

const json = "application/json";
const documentUrl = new URL("../../docs/openapi.json", import.meta.url);
const refs = (text: string): string => text.replaceAll("#/components/schemas/", "schemas#/$defs/");
export const document = objectOf(closed(JSON.parse(refs(readFileSync(documentUrl, "utf8")))));

const ajv = new Ajv2020({
  // Each format has a stricter pattern beside it.
  formats: { uuid: true, "date-time": true },
  allErrors: true,
  // A suite validates few answers: compiling takes longer than slower code.
  ...{ inlineRefs: false, validateSchema: false, code: { optimize: false } },
});
const { schemas, responses: refusalsByName } = objectOf(document["components"]);
ajv.addSchema({ $id: "schemas", $defs: schemas });
/** By the text of the schema, since most operations refuse in the same words. */
const validators = new Map<string, ValidateFunction>();
const refusal = { $ref: "schemas#/$defs/Error" };

/** Returns the number of parameters. A destination is several segments, or none. */
const parametersIn = (template: string): number =>
  template.includes("{destination}") ? Infinity : template.split("{").length - 1;
/** A fixed path goes before one with a parameter in its place. */
const byParameters = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  parametersIn(one) < parametersIn(other) ? -1 : Number(parametersIn(one) > parametersIn(other));

const templates = Object.entries(objectOf(document["paths"])).toSorted(byParameters);
const routes = templates.map(([template, operations]) => ({
  // A destination is a URL, appended unchanged, and so is the name of an event.
  pattern: new RegExp(
    `^${template.replaceAll(/\{(destination|eventId)\}/g, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`,
  ),
  operations: objectOf(operations),
}));

/** Throws if document and answer differ. Ignores requests outside of the API, such as health, and a browser's preflight. */
export function expectDocumented(answer: Answer): void {
  const path = answer.path.split("?")[0] ?? "";
  if (!path.startsWith("/v2/") || answer.method === "OPTIONS") return;
  const problem = problemWith(answer, path);
  if (problem === undefined) return;
  const { method, status, text } = answer;
  const shown = text.slice(0, shownMax);
  throw new Error(`docs/openapi.json on ${status} to ${method} ${path}: ${problem}\n${shown}`);
}

const shownMax = 1_000;

function problemWith(answer: Answer, path: string): string | undefined {
  const { method, status, text } = answer;
  const operation = routes
    .filter(({ pattern }) => pattern.test(path))
    .map(({ operations }) => operations[method.toLowerCase()])
    .find((found) => found !== undefined);
  if (operation === undefined)
    return refusals.includes(status) ? problemWithBody(answer, refusal) : "no such operation";
  const documented = objectOf(objectOf(operation)["responses"])[status];
  // The document covers two listeners, and each lacks the other's endpoints.
  if (documented === undefined) return text === unknownEndpoint ? undefined : "no such status";
  recordAnswer(objectOf(operation)["operationId"], status);
  const { content, "x-may-be-empty": mayBeEmpty } = responseOf(objectOf(documented));
  if (text === "" && mayBeEmpty === true) return undefined;
  if (content === undefined) return text === "" ? undefined : "there is no body";
  return problemWithBody(answer, objectOf(objectOf(objectOf(content)[json])["schema"]));
}

const responseOf = (documented: Readonly<Record<string, unknown>>) =>
  typeof documented["$ref"] === "string"
    ? objectOf(objectOf(refusalsByName)[documented["$ref"].replace("#/components/responses/", "")])
    : documented;

const unknownEndpoint = JSON.stringify({ error: "no such endpoint" });
/** The statuses of a request that is not an operation. */
const refusals: readonly number[] = [400, 401, 404, 405];

function problemWithBody({ contentType, text }: Answer, schema: object): string | undefined {
  if (contentType !== json) return `its type is ${String(contentType)}`;
  const validate = validatorOf(schema);
  return validate(JSON.parse(text)) ? undefined : ajv.errorsText(validate.errors);
}

function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, known);
  return known;
}

/** Returns the schema closed to fields that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const all = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  return "properties" in all && all["type"] === "object"
    ? { additionalProperties: false, ...all }
    : all;
}
