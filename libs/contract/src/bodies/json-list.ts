/**
 * Reads a JSON object of one long list, element by element: only one element is parsed at a time, and nothing after
 * the first fault is read. A caller may run other work between two elements.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import type * as z from "zod";
import { validated, readJson, repeated } from "./json.ts";
import {
  isArray,
  isObject,
  memberOf,
  noObject,
  partsOf,
  type Span,
  trimmed,
} from "./json-parts.ts";
import { type InTurns, pause, type Pause } from "./pause.ts";
import { unknownText } from "../wire/unknown-name.ts";

const membersMax = 64;
const nameShownMax = 128;

/** Yields the elements. A fault is the last item yielded; it names the field, such as `endpoints[3].url: …`. */
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
