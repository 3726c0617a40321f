/**
 * Finds the parts of a JSON text without parsing it: reads each byte once, and keeps nothing. The content of a part
 * is left to its parser. In UTF-8 no byte of a longer character equals one of the bytes that are searched.
 */
import { type Fault, fault } from "@posthaste/domain";
import { bytesPerTurn, pause, type Pause } from "./pause.ts";

/** From `from` up to, but without, `to`. */
export type Span = { readonly from: number; readonly to: number };

export const jsonDepthMax = 32;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const arrayOpens = 0x5b;
const arrayCloses = 0x5d;
const objectOpens = 0x7b;
const objectCloses = 0x7d;

export const notJson = fault("malformed", "body: must be JSON in UTF-8");
export const noObject = fault("malformed", "body: must be a JSON object, and is empty");
export const tooDeep = (depthMax: number): Fault =>
  fault("malformed", `body: must not nest deeper than ${depthMax}`);

export const isArray = (text: Uint8Array, { from }: Span): boolean => text[from] === arrayOpens;
export const isObject = (text: Uint8Array, { from }: Span): boolean => text[from] === objectOpens;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export function trimmed(text: Uint8Array, { from, to }: Span): Span {
  while (from < to && isSpace(text[from])) from++;
  while (to > from && isSpace(text[to - 1])) to--;
  return { from, to };
}

/**
 * Yields the text between the commas of an array or object, trimmed, or a fault, which is the last item. An empty one
 * yields nothing. A part longer than `partBytesMax` is yielded as its first `partBytesMax + 1` bytes, and nothing
 * after it.
 */
export function* partsOf(
  text: Uint8Array,
  { from, to }: Span,
  partBytesMax = Infinity,
): Generator<Span | Fault | Pause, void, undefined> {
  const closes = text[from] === arrayOpens ? arrayCloses : objectCloses;
  const place: Place = { at: from, depth: 0, isInString: false };
  let begin = from + 1;
  let isFirst = true;
  for (;;) {
    const longTo = begin + partBytesMax + 1;
    const mark = passTo(text, place, Math.min(place.at + bytesPerTurn, to, longTo));
    if (mark === undefined) {
      if (place.at >= to) return yield notJson;
      if (place.at >= longTo) return yield { from: begin, to: longTo };
      yield pause;
      continue;
    }
    if (mark === arrayOpens || mark === objectOpens) return yield tooDeep(jsonDepthMax);
    const part = trimmed(text, { from: begin, to: place.at - 1 });
    if (mark !== comma) {
      if (!isFirst || part.from < part.to) yield part;
      if (mark !== closes || place.at !== to) yield notJson;
      return;
    }
    yield part;
    begin = place.at;
    isFirst = false;
  }
}

type Place = { at: number; depth: number; isInString: boolean };

/**
 * Moves past the comma after a part, the bracket that closes all, or a bracket that opens too deep, and returns that
 * byte; or stops at `until`. A function of its own: the loop inside the generator would take ten times as long for
 * each byte.
 */
function passTo(text: Uint8Array, place: Place, until: number): number | undefined {
  let { at, depth } = place;
  let mark: number | undefined;
  while (at < until && mark === undefined) {
    if (place.isInString) {
      at = endOfString(text, at, until);
      if (at >= until) break;
      place.isInString = false;
      at++;
      continue;
    }
    const byte = text[at++];
    if (byte === quote) place.isInString = true;
    else if (byte === comma) mark = depth === 1 ? byte : undefined;
    else if (byte === arrayOpens || byte === objectOpens)
      mark = ++depth > jsonDepthMax ? byte : undefined;
    else if (byte === arrayCloses || byte === objectCloses) mark = --depth === 0 ? byte : undefined;
  }
  place.at = at;
  place.depth = depth;
  return mark;
}

export function memberOf(
  text: Uint8Array,
  { from, to }: Span,
): { readonly name: Span; readonly value: Span } | Fault {
  if (text[from] !== quote) return notJson;
  const end = endOfString(text, from + 1, to) + 1;
  const rest = trimmed(text, { from: end, to });
  if (text[rest.from] !== colon || rest.from >= to) return notJson;
  return { name: { from, to: end }, value: trimmed(text, { from: rest.from + 1, to }) };
}

/**
 * Returns the place of the closing quote; without one, `to`, or one more when an escape begins right before `to`.
 * `from` is after the opening quote.
 */
function endOfString(text: Uint8Array, from: number, to: number): number {
  let at = from;
  for (; at < to; at++) {
    const byte = text[at];
    if (byte === quote) return at;
    if (byte === backslash) at++;
  }
  return at;
}

/**
 * Refuses text that nests too deep or has more than `valuesMax` values, where each name of an object counts as one.
 * Returns the number of names.
 */
export function countNames(text: Uint8Array, valuesMax: number): number | Fault {
  let depth = 0;
  let values = 1;
  let names = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at + 1, text.length);
    else if (byte === arrayCloses || byte === objectCloses) depth--;
    else if (byte === arrayOpens || byte === objectOpens) {
      values++;
      if (++depth > jsonDepthMax) return tooDeep(jsonDepthMax);
    } else if (byte === comma) values++;
    else if (byte === colon) {
      values++;
      names++;
    }
    if (values > valuesMax)
      return fault("malformed", `body: must hold at most ${valuesMax} values`);
  }
  return names;
}

/** Returns the path of the first name that occurs twice in one object of `text`, which is JSON. */
export function firstRepeat(text: Uint8Array): readonly (string | number)[] | undefined {
  const path: (string | number)[] = [];
  /** The names seen in each open object; undefined for an array. */
  const namesOf: (Set<string> | undefined)[] = [];
  let string: Span = { from: 0, to: 0 };
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    const last = path.length - 1;
    if (byte === quote) {
      const from = at;
      at = endOfString(text, at + 1, text.length);
      string = { from, to: at + 1 };
    } else if (byte === arrayOpens || byte === objectOpens) {
      path.push(0);
      namesOf.push(byte === objectOpens ? new Set() : undefined);
    } else if (byte === arrayCloses || byte === objectCloses) {
      path.pop();
      namesOf.pop();
    } else if (byte === comma && namesOf[last] === undefined) {
      path[last] = Number(path[last]) + 1;
    } else if (byte === colon) {
      const name = nameAt(text, string);
      path[last] = name;
      if (namesOf[last]?.has(name)) return path;
      namesOf[last]?.add(name);
    }
  }
  return undefined;
}

const nameAt = (text: Uint8Array, { from, to }: Span): string =>
  String(JSON.parse(Buffer.from(text.subarray(from, to)).toString()));
