/**
 * Reads a string of a JSON text, which may be long, as bytes, and parses the rest without it. A JavaScript string in between would take one
 * or two bytes for each character.
 */
import { type Fault, fault, isFault } from "@posthaste/domain";
import { readMembers } from "./json-members.ts";
import { type Span } from "./json-parts.ts";
import { jsonBytesMax, readJson, repeated, type Repeats } from "./json.ts";
import { bytesPerTurn, type InTurns, pause } from "./pause.ts";

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;

/** The character for each letter after a backslash. */
const escapes = new Uint8Array(256);
for (const [i, letter] of [...'"\\/bfnrt'].entries())
  escapes[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(i);

/** `bytes`: in UTF-8. A lone surrogate, which UTF-8 cannot express, counts as the three bytes of its replacement. */
export type StringSize = { readonly bytes: number; readonly isWellFormed: boolean };

export const isString = (text: Uint8Array, { from }: Span): boolean => text[from] === quote;

/** Returns the size of a string. `span`: a string of a JSON text, with its quotes. */
export function* readSize(text: Uint8Array, { from, to }: Span): InTurns<StringSize> {
  let saved = 0;
  let isWellFormed = true;
  for (let at = from; ; yield pause) {
    const part = sizeUpTo(text, at, Math.min(at + bytesPerTurn, to));
    saved += part.saved;
    isWellFormed &&= part.isWellFormed;
    ({ at } = part);
    if (at >= to) return { bytes: to - from - 2 - saved, isWellFormed };
  }
}

/** `saved`: by how many bytes the escapes shrink when they are read. The last escape may end after `to`. */
function sizeUpTo(text: Uint8Array, from: number, to: number) {
  let saved = 0;
  let isWellFormed = true;
  let at = from;
  for (; at < to; at++) {
    if (text[at] !== backslash) continue;
    if (text[++at] !== letterU) {
      saved++;
      continue;
    }
    const point = pointAt(text, at + 1);
    const digits = point > 0xffff ? 10 : 4;
    at += digits;
    saved += 2 + digits - bytesOfPoint(point);
    if (isHalf(point)) isWellFormed = false;
  }
  return { at, saved, isWellFormed };
}

/**
 * Reads a string. `size` is the result of `readSize`. The bytes of a longer string end a few bytes after `bytesMax`,
 * for a reader that cuts them.
 */
export function* readBytes(
  text: Uint8Array,
  { from, to }: Span,
  { bytes }: StringSize,
  bytesMax = Infinity,
): InTurns<Uint8Array> {
  const said = new Uint8Array(Math.min(bytes, bytesMax + 4));
  let [at, end] = [from + 1, 0];
  for (; ; yield pause) {
    [at, end] = putUpTo(text, at, Math.min(at + bytesPerTurn, to - 1), said, end, bytesMax);
    if (at >= to - 1 || end > bytesMax) return said.subarray(0, end);
  }
}

/** Returns where reading and writing ended, in the text and in `said`. */
function putUpTo(
  text: Uint8Array,
  from: number,
  to: number,
  said: Uint8Array,
  begin: number,
  bytesMax: number,
): [at: number, end: number] {
  let end = begin;
  let at = from;
  for (; at < to && end <= bytesMax; at++) {
    const byte = text[at] ?? 0;
    if (byte !== backslash) {
      said[end++] = byte;
      continue;
    }
    const next = text[++at] ?? 0;
    if (next !== letterU) {
      said[end++] = escapes[next] ?? 0;
      continue;
    }
    const point = pointAt(text, at + 1);
    at += point > 0xffff ? 10 : 4;
    end = putPoint(said, end, isHalf(point) ? replacement : point);
  }
  return [at, end];
}

const replacement = 0xfffd;
const isHalf = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;

/** Returns the code point of the four digits at `at`, joined with an escape after them that has the other half of a pair. */
function pointAt(text: Uint8Array, at: number): number {
  const unit = unitAt(text, at);
  if (unit < 0xd800 || unit > 0xdbff) return unit;
  if (text[at + 4] !== backslash || text[at + 5] !== letterU) return unit;
  const low = unitAt(text, at + 6);
  const isPair = low >= 0xdc00 && low <= 0xdfff;
  return isPair ? (unit - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : unit;
}

const unitAt = (text: Uint8Array, at: number): number =>
  ((hexDigit(text[at]) * 16 + hexDigit(text[at + 1])) * 16 + hexDigit(text[at + 2])) * 16 +
  hexDigit(text[at + 3]);

/** A hex letter of either case is nine more than its last four bits. */
const hexDigit = (byte = 0): number => (byte & 0xf) + (byte > 0x39 ? 9 : 0);

function bytesOfPoint(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function putPoint(said: Uint8Array, end: number, point: number): number {
  const bytes = bytesOfPoint(point);
  const last = end + bytes - 1;
  for (let at = last; at > end; at--) {
    said[at] = 0x80 | (point & 0x3f);
    point >>= 6;
  }
  said[end] = bytes === 1 ? point : ((0xf00 >> bytes) & 0xff) | point;
  return last + 1;
}

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
