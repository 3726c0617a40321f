/** What a header may hold: the character rules of every name and value that enters or leaves through one. */

import { type Fault, fault } from "@posthaste/domain";

/** RFC 9110 §5.6.2. */
export const isToken = (text: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);

/** Visible ASCII, space and tab (docs/design/wire#headers): what is more could be read in two ways further on. */
export function isHeaderValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e) return false;
  }
  return true;
}

/** Characters that would end a header, or begin another. */
export const hasControls = (text: string): boolean => /[\0-\x08\n-\x1f\x7f]/.test(text);

/** The text of a header, which Node gives byte by byte (latin-1). Undefined: its bytes are not UTF-8. */
export function textOfBytes(bytes: string): string | undefined {
  if (!beyondAscii.test(bytes)) return bytes;
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return undefined;
  }
}

/** The reverse: what Node would give if `text` had come in a header as UTF-8. */
export const bytesOfText = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;

const beyondAscii = /[^\0-\x7f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Matches a field value (RFC 9110 §5.5): visible ASCII, space, tab, and bytes beyond ASCII. */
export const isFieldValue = (text: string): boolean => /^[\t -~\x80-\xff]*$/.test(text);

/** Visible ASCII without space: what a request target and a URL may be made of. */
export function isVisibleAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** Of a part of a path. An escape that is broken stands for itself. */
export const decodedLeniently = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });

/** Of URL groups and schedules (docs/design/wire#targets). The dots alone would be eaten by a client's path normalisation. */
export const isName = (text: string): boolean =>
  /^[A-Za-z0-9._-]{1,128}$/.test(text) && text !== "." && text !== "..";

export const nameForm = "letters, digits, '-', '_' and '.' only, at most 128 characters";

/** `field`: how the documents call it. */
export const badName = (field: string): Fault => fault("malformed", `${field}: ${nameForm}`);

/** Part of lane ids, of log lines and of paths. */
export const isTenantId = (text: string): boolean => /^[\w-]{1,64}$/.test(text);
