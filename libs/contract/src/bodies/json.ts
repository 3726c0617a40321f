/**
 * JSON from outside, bounded in bytes, depth and values before it is parsed: what a validator says of each of a million
 * wrong values costs hundreds of times their size. Long lists are read element by element, see `json-list.ts`.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import type * as z from "zod";
import { faultOfSize, noObject, notJson } from "./json-parts.ts";

export const jsonBytesMax = 64 * 1024;
const jsonValuesMax = 1_024;

// Without ignoreBOM a byte order mark would be dropped; JSON.parse refuses it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The body as `schema` has it; faults name the field, such as `plan.retriesMax: …`. An empty one is an object without fields. */
export function parseJson<S extends z.ZodType>(body: Uint8Array, schema: S): z.output<S> | Fault {
  if (body.length === 0) return schema.safeParse({}).data ?? noObject;
  const read = readJson(body, "body");
  return isFault(read) ? read : judged(read.json, schema, "");
}

/** `field`: what `text` is called when it is longer than `bytesMax`. */
export function readJson(
  text: Uint8Array,
  field: string,
  bytesMax = jsonBytesMax,
): { readonly json: unknown } | Fault {
  const refused = faultOfSize(text.subarray(0, bytesMax), jsonValuesMax);
  if (refused) return refused;
  if (text.length > bytesMax)
    return fault("too_large", `${field}: must be at most ${bytesMax} bytes`);
  try {
    return { json: JSON.parse(utf8.decode(text)) };
  } catch {
    return notJson;
  }
}

/** `place`: where `json` stands in the body, such as `endpoints[3]`. */
export function judged<S extends z.ZodType>(
  json: unknown,
  schema: S,
  place: string,
): z.output<S> | Fault {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = place + (issue?.path ?? []).map(pathPart).join("");
  const field = path.replace(/^\./, "") || "body";
  return fault("malformed", `${field}: ${issue?.message ?? "is not as it must be"}`);
}

const pathPart = (part: PropertyKey): string =>
  typeof part === "number" ? `[${part}]` : `.${String(part)}`;
