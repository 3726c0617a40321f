/**
 * Reads JSON from outside, bounded in bytes, depth and values before it is parsed: a validator's faults for a million wrong
 * values cost hundreds of times their size. Long lists are read element by element.
 */
import * as z from "zod";
import { type Fault, fault, isFault } from "@posthaste/domain";
import {
  countNames,
  firstRepeat,
  noObject,
  notJson,
  isArray,
  isObject,
  memberOf,
  partsOf,
  type Span,
  trimmed,
} from "./json-parts.ts";
import { type InTurns, pause, type Pause } from "./pause.ts";
import { type BodyRow } from "../endpoints/endpoint.ts";
import { unknownText } from "../wire/unknown-name.ts";

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
  const path = repeats === "last" || keysIn([json]) === names ? undefined : firstRepeat(text);
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

function keysIn(json: object): number {
  const values: readonly unknown[] = Object.values(json);
  let keys = Array.isArray(json) ? 0 : values.length;
  for (const value of values) if (typeof value === "object" && value) keys += keysIn(value);
  return keys;
}

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

const membersMax = 64;

/**
 * Reads an object of one long list: only one element is parsed at a time, and nothing after the first fault is read. A caller may run
 * other work between two elements. A fault is the last item yielded; it names the field, such as `endpoints[3].url: …`.
 */
export function* readJsonList<S extends z.ZodType>(
  body: Uint8Array,
  field: string,
  element: S,
): Generator<z.output<S> | Fault | Pause, void, undefined> {
  const list = yield* listIn(body, field);
  if (isFault(list)) return yield list;
  let index = 0;
  for (const part of partsOf(body, list)) {
    if (part === pause) {
      yield pause;
      continue;
    }
    const place = `${field}[${index++}]`;
    const read = isFault(part) ? part : readJson(body.subarray(part.from, part.to), place);
    const value = isFault(read) ? read : validated(read.json, element, place);
    yield value;
    if (isFault(value)) return;
  }
}

/** Finds the list. A body that is not JSON is refused as such; otherwise a body with anything beside the list is refused. */
function* listIn(body: Uint8Array, field: string): InTurns<Span | Fault> {
  if (body.length === 0) return noObject;
  const whole = trimmed(body, { from: 0, to: body.length });
  if (!isObject(body, whole))
    return faultOf(body, whole, "body") ?? fault("malformed", "body: must be an object");
  let list: Span | undefined;
  const names = new Set<string>();
  for (const part of partsOf(body, whole)) {
    if (part === pause) {
      yield pause;
      continue;
    }
    const member = isFault(part) ? part : memberOf(body, part);
    if (isFault(member)) return member;
    const read = readJson(body.subarray(member.name.from, member.name.to), "body");
    if (isFault(read)) return read;
    const name = String(read.json);
    if (names.has(name)) return repeated("", [name]);
    if (names.add(name).size > membersMax)
      return fault("malformed", `body: must hold at most ${membersMax} fields`);
    const { value } = member;
    if (name !== field) {
      const refused = faultOf(body, value, name.slice(0, nameShownMax));
      if (refused) return refused;
    } else if (isArray(body, value)) {
      list = value;
    } else {
      return faultOf(body, value, field) ?? noList(field);
    }
  }
  const unknown = names
    .difference(new Set([field]))
    .values()
    .next().value;
  if (unknown !== undefined)
    return fault("malformed", `body: ${unknownText("field", unknown, [field])}`);
  return list ?? noList(field);
}

const noList = (field: string): Fault => fault("malformed", `${field}: must be an array`);

function faultOf(body: Uint8Array, { from, to }: Span, field: string): Fault | undefined {
  const read = readJson(body.subarray(from, to), field);
  return isFault(read) ? read : undefined;
}

export const jsonBody = <S extends z.ZodType>(schema: S): BodyRow<z.output<S>> => ({
  schema,
  bytesMax: jsonBytesMax,
  parse: (bytes) => parseJson(bytes, schema),
});

/** An object with a fixed list of fields, as every JSON body of an endpoint is read. */
export const strictObject = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? unknownText("field", String(issue.keys[0]), Object.keys(shape))
        : "must be an object",
  });
