/**
 * Selects the items of a bulk operation: filters in the query, or the same names in a JSON body. No filter at all
 * selects everything, so an unknown name is refused, and an empty list selects nothing.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import * as z from "zod";
import { jsonBytesMax, readJson, strictObject } from "../bodies/json.ts";
import { type BodyRow } from "../endpoints/endpoint.ts";
import { parameterFault, type QueryValues, unknownName, valuesMax } from "./query-values.ts";

const value = z.union([z.string(), z.number(), z.boolean()]);
const fieldSchema = z
  .union([value, z.array(value)])
  .meta({ id: "OneOrMany" })
  .nullish();

/** The values of a body; `none` when a list in it is empty; undefined when there is no body. */
export type SelectedByBody = QueryValues | "none" | undefined;

export const selectionBody = (names: ReadonlySet<string>): BodyRow<SelectedByBody> => ({
  schema: strictObject(Object.fromEntries([...names].map((name) => [name, fieldSchema]))),
  bytesMax: jsonBytesMax,
  parse: (bytes) => (bytes.length === 0 ? undefined : readSelection(bytes, names)),
});

/** Returns the values of whichever of query and body was used. */
export function selectedBy(query: QueryValues, body: SelectedByBody): QueryValues | "none" | Fault {
  if (body === undefined) return query;
  return query.size === 0
    ? body
    : fault("malformed", "body: must be empty when the query has parameters");
}

function readSelection(bytes: Uint8Array, names: ReadonlySet<string>): SelectedByBody | Fault {
  const read = readJson(bytes, "body");
  if (isFault(read)) return read;
  const { json } = read;
  if (json === null) return undefined;
  if (typeof json !== "object" || Array.isArray(json))
    return fault("malformed", "body: must be an object");
  const values = new Map<string, readonly string[]>();
  let isNone = false;
  for (const [name, given] of Object.entries(json)) {
    if (!names.has(name)) return unknownName(name, names);
    const texts = textsOf(name, given);
    if (isFault(texts)) return texts;
    if (texts?.length === 0) isNone = true;
    else if (texts) values.set(name, texts);
  }
  return isNone ? "none" : values;
}

function textsOf(name: string, given: unknown): readonly string[] | undefined | Fault {
  if (given === null) return undefined;
  const parsed = fieldSchema.safeParse(given);
  if (!parsed.success) return parameterFault(name, "must be a text, a number, or a list of them");
  const list = Array.isArray(parsed.data) ? parsed.data : [parsed.data];
  if (list.length > valuesMax) return parameterFault(name, `must hold at most ${valuesMax} values`);
  return list.map(String);
}
