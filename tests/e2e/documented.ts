/**
 * Holds an answer against docs/openapi.json, as a reader does that knows nothing else: the operation names the status, and the
 * body fits its schema, with no field that the schema does not name.
 */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { objectOf } from "./json.ts";
import { recordAnswer } from "./seen.ts";

export type Answer = {
  readonly method: string;
  /** As it went out. */
  readonly path: string;
  readonly status: number;
  readonly contentType: unknown;
  readonly text: string;
};

const json = "application/json";
const documentUrl = new URL("../../docs/openapi.json", import.meta.url);
const refs = (text: string): string => text.replaceAll("#/components/schemas/", "schemas#/$defs/");
export const document = objectOf(closed(JSON.parse(refs(readFileSync(documentUrl, "utf8")))));

// Its formats have a pattern beside them, which holds more.
const ajv = new Ajv2020({ formats: { uuid: true, "date-time": true }, allErrors: true });
ajv.addSchema({ $id: "schemas", $defs: objectOf(document["components"])["schemas"] });
const refusal = { $ref: "schemas#/$defs/Error" };

/** A destination is several segments, or none. */
const parametersIn = (template: string): number =>
  template.includes("{destination}") ? Infinity : template.split("{").length - 1;
/** A path that is named stands before one with a parameter in that place. */
const byParameters = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  parametersIn(one) < parametersIn(other) ? -1 : Number(parametersIn(one) > parametersIn(other));

const templates = Object.entries(objectOf(document["paths"])).toSorted(byParameters);
const routes = templates.map(([template, operations]) => ({
  // A destination is a URL, which is appended as it is, and so is the name of an event.
  pattern: new RegExp(
    `^${template.replaceAll(/\{(destination|eventId)\}/g, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`,
  ),
  operations: objectOf(operations),
}));

/**
 * Throws where document and answer differ. What is no endpoint of the API, such as health, stands in no document; nor does
 * what a browser asks before it calls one.
 */
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
  // The document has two listeners in it, and each has the endpoints of the other not.
  if (documented === undefined) return text === unknownEndpoint ? undefined : "no such status";
  recordAnswer(objectOf(operation)["operationId"], status);
  const { content, "x-may-be-empty": mayBeEmpty } = objectOf(documented);
  if (text === "" && mayBeEmpty === true) return undefined;
  if (content === undefined) return text === "" ? undefined : "there is no body";
  return problemWithBody(answer, objectOf(objectOf(objectOf(content)[json])["schema"]));
}

const unknownEndpoint = JSON.stringify({ error: "no such endpoint" });
/** Of what is no operation. */
const refusals: readonly number[] = [400, 401, 404, 405];

function problemWithBody({ contentType, text }: Answer, schema: object): string | undefined {
  if (contentType !== json) return `its type is ${String(contentType)}`;
  if (ajv.validate(schema, JSON.parse(text))) return undefined;
  return ajv.errorsText(ajv.errors);
}

/** The schema in which an object has the fields that are named, and no other. */
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
