/**
 * Reads JSON from outside, bounded in bytes, depth and values before it is parsed: a validator's faults for a million wrong
 * values cost hundreds of times their size. Long lists are read element by element, see `json-list.ts`.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import type * as z from "zod";
import { countNames, firstRepeat, noObject, notJson } from "./json-parts.ts";

export const jsonBytesMax = 64 * 1024;
const jsonValuesMax = 1_024;

// `ignoreBOM` keeps a byte order mark, which JSON.parse refuses.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a body by `schema`; faults name the field, such as `plan.retriesMax: …`. An empty body is an object without fields.
 */
export function parseJson<S extends z.ZodType>(body: Uint8Array, schema: S): z.output<S> | Fault {
  if (body.length === 0) return schema.safeParse({}).data ?? noObject;
  const read = readJson(body, "body");
  return isFault(read) ? read : validated(read.json, schema, "");
}

/**
 * Says whether a name that occurs twice in an object is refused, or its last value counts. The latter holds in a step
 * of a run, whose JSON belongs to its client.
 */
export type Repeats = "refused" | "last";

/** `field`: the name of `text` in a fault. */
export function readJson(
  text: Uint8Array,
  field: string,
  repeats: Repeats = "refused",
): { readonly json: unknown } | Fault {
  const names = countNames(text.subarray(0, jsonBytesMax), jsonValuesMax);
  if (isFault(names)) return names;
  if (text.length > jsonBytesMax)
    return fault("too_large", `${field}: must be at most ${jsonBytesMax} bytes`);
  const json = parsed(text);
  if (json === undefined) return notJson;
  // The parser keeps one key of each name. The repeated name is searched only when the counts differ.
  const path = repeats === "last" || keysIn(json) === names ? undefined : firstRepeat(text);
  return path ? repeated(field === "body" ? "" : field, path) : { json };
}

/** Returns undefined for text that is not JSON. */
function parsed(text: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(text));
  } catch {
    return undefined;
  }
}

const keysIn = (json: unknown): number =>
  typeof json === "object" && json !== null
    ? Object.values(json).reduce<number>(
        (keys, value) => keys + keysIn(value),
        Array.isArray(json) ? 0 : Object.keys(json).length,
      )
    : 0;

const nameShownMax = 128;

/** Readers disagree on which of two values counts, so the body is refused. */
export const repeated = (place: string, path: readonly PropertyKey[]): Fault =>
  fault("malformed", `${fieldAt(place, path)}: must not occur twice`);

/** `place`: where `json` is in the body, such as `endpoints[3]`. */
export function validated<S extends z.ZodType>(
  json: unknown,
  schema: S,
  place: string,
): z.output<S> | Fault {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  // The misspelt name of a required field says more than that the field is missing.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  const field = fieldAt(place, issue?.path ?? []);
  return fault("malformed", `${field}: ${issue?.message ?? "is not valid"}`);
}

const fieldAt = (place: string, path: readonly PropertyKey[]): string =>
  (place + path.map(pathPart).join("")).replace(/^\./, "") || "body";

const pathPart = (part: PropertyKey): string =>
  typeof part === "number" ? `[${part}]` : `.${String(part).slice(0, nameShownMax)}`;
