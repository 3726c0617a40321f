/**
 * Members of a JSON object by their names. The whole text is judged, byte by byte, and nothing is made of it but where those
 * stand that are asked for: however many values it holds, it costs one look at each byte and no memory.
 */
import { isUtf8 } from "node:buffer";
import { fault, type Fault } from "@posthaste/domain";
import { jsonDepthMax, notJson, type Span, tooDeep } from "./json-parts.ts";

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const arrayOpens = 0x5b;
const backslash = 0x5c;
const arrayCloses = 0x5d;
const objectOpens = 0x7b;
const objectCloses = 0x7d;

const membersMax = 1_024;

/** Where the values stand; of a name that comes twice the last. */
export function membersOf(
  text: Uint8Array,
  names: ReadonlySet<string>,
  depthMax = jsonDepthMax,
): ReadonlyMap<string, Span> | Fault {
  const begin = afterSpace(text, 0);
  if (text[begin] !== objectOpens) return fault("malformed", "body: must be an object");
  if (!isUtf8(text.subarray(begin))) return notJson;
  const found = new Map<string, Span>();
  let members = 0;
  let name: string | undefined;
  let at = begin;
  let from = at;
  // What closes each array and object that is open, the innermost last.
  const closing = new Uint8Array(depthMax);
  let depth = 0;
  for (;;) {
    if (depth > 0 && closing[depth - 1] === objectCloses) {
      const nameFrom = at;
      at = afterName(text, at);
      if (at < 0) return notJson;
      if (depth === 1) {
        if (++members > membersMax) return tooManyMembers;
        [name, from] = [nameAt(text, nameFrom), at];
      }
    }
    const byte = text[at];
    if (byte === arrayOpens || byte === objectOpens) {
      if (depth === depthMax) return tooDeep(depthMax);
      closing[depth++] = byte === arrayOpens ? arrayCloses : objectCloses;
      at = afterSpace(text, at + 1);
      if (text[at] !== closing[depth - 1]) continue;
    } else {
      at = byte === quote ? afterString(text, at) : afterScalar(text, at);
      if (at < 0) return notJson;
      if (depth === 1 && name !== undefined && names.has(name)) found.set(name, { from, to: at });
      at = afterSpace(text, at);
    }
    while (text[at] === closing[depth - 1]) {
      depth--;
      at++;
      if (depth === 1 && name !== undefined && names.has(name)) found.set(name, { from, to: at });
      at = afterSpace(text, at);
      if (depth === 0) return at === text.length ? found : notJson;
    }
    if (text[at] !== comma) return notJson;
    at = afterSpace(text, at + 1);
  }
}

const tooManyMembers = fault("malformed", `body: must hold at most ${membersMax} fields`);

/** Longer spellings are of no name that is asked for. */
const nameBytesMax = 256;

function nameAt(text: Uint8Array, from: number): string | undefined {
  const to = afterString(text, from);
  if (to - from > nameBytesMax) return undefined;
  return String(JSON.parse(Buffer.from(text.subarray(from, to)).toString()));
}

// Each of these says where what begins at `from` is over, or -1: it is none.

function afterSpace(text: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(text[at])) at++;
  return at;
}

const isSpace = (byte: number | undefined): boolean =>
  byte !== undefined &&
  byte <= 0x20 &&
  (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);

/** With its colon. */
function afterName(text: Uint8Array, from: number): number {
  const end = text[from] === quote ? afterString(text, from) : -1;
  if (end < 0) return -1;
  const next = afterSpace(text, end);
  return text[next] === colon ? afterSpace(text, next + 1) : -1;
}

function afterString(text: Uint8Array, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte > backslash) continue;
    if (byte === quote) return at + 1;
    if (byte < 0x20) return -1;
    if (byte !== backslash) continue;
    const escaped = text[++at] ?? 0;
    if (escaped === 0x75) {
      for (const end = at + 4; at < end;) if (!isHexDigit(text[++at] ?? 0)) return -1;
    } else if (!escapes.has(escaped)) {
      return -1;
    }
  }
  return -1;
}

const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

const isHexDigit = (byte: number): boolean =>
  isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);

const literals = ["true", "false", "null"].map((literal) => Buffer.from(literal));

function afterScalar(text: Uint8Array, from: number): number {
  if (text[from] !== minus && !isDigit(text[from])) {
    const literal = literals.find((each) => each.every((byte, i) => text[from + i] === byte));
    return literal ? from + literal.length : -1;
  }
  let at = text[from] === minus ? from + 1 : from;
  at = text[at] === zero ? at + 1 : afterDigits(text, at);
  if (at > 0 && text[at] === dot) at = afterDigits(text, at + 1);
  if (at > 0 && (text[at] === 0x65 || text[at] === 0x45)) {
    const sign = text[at + 1];
    at = afterDigits(text, sign === minus || sign === 0x2b ? at + 2 : at + 1);
  }
  return at;
}

/** One at least. */
function afterDigits(text: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(text[at])) at++;
  return at > from ? at : -1;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;
