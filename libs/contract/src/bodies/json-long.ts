/**
 * Reads a JSON object with one string in it that may be long: that string is read as bytes, and the rest is parsed without
 * it.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import { readMembers } from "./json-members.ts";
import { type Span } from "./json-parts.ts";
import { isString, readBytes, readSize, type StringSize } from "./json-string.ts";
import { jsonBytesMax, readJson, repeated, type Repeats } from "./json.ts";
import { type InTurns } from "./pause.ts";

export type LongString = StringSize & {
  /** Makes the bytes when called. */
  readonly said: () => InTurns<Uint8Array>;
};

export type WithLong = {
  /** The object, with an empty string in place of the long one. */
  readonly json: unknown;
  /** Absent if the string is in `json`. */
  readonly long?: LongString;
};

const utf8 = new TextEncoder();

/** Wraps a string that was parsed with the rest in the same form. */
export const longOf = (text: string): LongString => ({
  bytes: Buffer.byteLength(text),
  isWellFormed: text.isWellFormed(),
  *said() {
    return utf8.encode(text);
  },
});

/** `place`: the object's name in the fault when the rest of it is too long. */
export function* readWithLong(
  text: Uint8Array,
  name: string,
  place: string,
  repeats?: Repeats,
): InTurns<WithLong | Fault> {
  if (text.length <= jsonBytesMax) return readJson(text, place, repeats);
  const members = yield* readMembers(text, new Set([name]));
  if (isFault(members)) return members;
  const at = members.get(name);
  if (at?.isRepeated && repeats !== "last") return repeated(place, [name]);
  if (!at || !isString(text, at) || text.length - lengthOf(at) > jsonBytesMax)
    return fault("too_large", `${place}: must be at most ${jsonBytesMax} bytes beside its ${name}`);
  const size = yield* readSize(text, at);
  const read = readJson(withEmptied(text, at), place, repeats);
  if (isFault(read)) return read;
  return { ...read, long: { ...size, said: () => readBytes(text, at, size) } };
}

const lengthOf = ({ from, to }: Span): number => to - from;

function withEmptied(text: Uint8Array, string: Span): Uint8Array {
  const rest = new Uint8Array(text.length - lengthOf(string) + 2);
  rest.set(text.subarray(0, string.from + 1));
  rest.set(text.subarray(string.to - 1), string.from + 1);
  return rest;
}
