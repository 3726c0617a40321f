/**
 * Where the parts of a JSON text stand, found without parsing it: one look at each byte, and nothing kept. What stands in
 * a part is for its parser. In UTF-8 no byte of a longer character looks like one of those that are looked for.
 */
import { type Fault, fault } from "@posthaste/domain";

/** From `from` up to, and without, `to`. */
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
export const noObject = fault("malformed", "body: is empty, and must be a JSON object");
export const tooDeep = (depthMax: number): Fault =>
  fault("malformed", `body: must not nest deeper than ${depthMax}`);

export const isArray = (text: Uint8Array, { from }: Span): boolean => text[from] === arrayOpens;
export const isObject = (text: Uint8Array, { from }: Span): boolean => text[from] === objectOpens;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Without the space around it. */
export function trimmed(text: Uint8Array, { from, to }: Span): Span {
  while (from < to && isSpace(text[from])) from++;
  while (to > from && isSpace(text[to - 1])) to--;
  return { from, to };
}

/**
 * What stands between the commas of an array or object, trimmed; or a fault, which is the last. None: it is empty. Of a part
 * that is longer than `partBytesMax` only its beginning comes, one byte longer, and nothing after it.
 */
export function* partsOf(
  text: Uint8Array,
  { from, to }: Span,
  partBytesMax = Infinity,
): Generator<Span | Fault, void, undefined> {
  const closes = text[from] === arrayOpens ? arrayCloses : objectCloses;
  let depth = 0;
  let begin = from + 1;
  let isFirst = true;
  for (let at = from; at < to; at++) {
    const byte = text[at];
    if (at - begin > partBytesMax) return yield { from: begin, to: begin + partBytesMax + 1 };
    if (byte === quote) {
      at = endOfString(text, at, Math.min(to, begin + partBytesMax + 1));
    } else if (byte === arrayOpens || byte === objectOpens) {
      if (++depth > jsonDepthMax) return yield tooDeep(jsonDepthMax);
    } else if (byte === comma && depth === 1) {
      yield trimmed(text, { from: begin, to: at });
      begin = at + 1;
      isFirst = false;
    } else if ((byte === arrayCloses || byte === objectCloses) && --depth === 0) {
      const last = trimmed(text, { from: begin, to: at });
      if (!isFirst || last.from < last.to) yield last;
      if (byte !== closes || at !== to - 1) yield notJson;
      return;
    }
  }
  yield notJson;
}

/** Name and value of an object's part. */
export function memberOf(
  text: Uint8Array,
  { from, to }: Span,
): { readonly name: Span; readonly value: Span } | Fault {
  if (text[from] !== quote) return notJson;
  const end = endOfString(text, from, to) + 1;
  const rest = trimmed(text, { from: end, to });
  if (text[rest.from] !== colon || rest.from >= to) return notJson;
  return { name: { from, to: end }, value: trimmed(text, { from: rest.from + 1, to }) };
}

/** Where the closing quote stands; `to` when there is none. */
function endOfString(text: Uint8Array, from: number, to: number): number {
  for (let at = from + 1; at < to; at++) {
    if (text[at] === backslash) at++;
    else if (text[at] === quote) return at;
  }
  return to;
}

/** Refuses what nests too deep or holds more than `valuesMax` values, each name of an object counted as one. */
export function faultOfSize(text: Uint8Array, valuesMax: number): Fault | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at, text.length);
    else if (byte === arrayCloses || byte === objectCloses) depth--;
    else if (byte === arrayOpens || byte === objectOpens) {
      values++;
      if (++depth > jsonDepthMax) return tooDeep(jsonDepthMax);
    } else if (byte === comma || byte === colon) values++;
    if (values > valuesMax)
      return fault("malformed", `body: must hold at most ${valuesMax} values`);
  }
  return undefined;
}
